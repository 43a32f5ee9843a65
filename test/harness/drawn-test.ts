import type { TAP, Test } from 'tap'
import { isCounted, isDrawn } from './sample.ts'

/** Defines a test, as `t.test` does. */
export type DefineTest = (title: string, test: (t: Test) => unknown) => Promise<unknown>

/**
 * Returns what defines tests of which a short run takes about one of so many, by the seed: those that try on real servers
 * and programs what other tests try in parts. All run in a long run, without test/run.ts, and where lines are counted.
 * In a file with such tests at least one is always defined.
 */
export function drawnTests(t: TAP | Test, oneOf: number): DefineTest {
  return async (title, test) => {
    if (isCounted() || isDrawn(title, oneOf)) await t.test(title, test)
  }
}
