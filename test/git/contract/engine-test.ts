import type { TAP, Test } from 'tap'
import { isDrawn } from '../../harness/sample.ts'
import type { EngineName } from '../stage.ts'

/**
 * Of how many cases one runs. The direct engine makes nearly all commits; what the git binary's sessions and tunnels do
 * is tested in test/git/session and test/git/ssh, too, but for the search in history, which runs whole.
 */
const ONE_OF: Readonly<Record<EngineName, number>> = { direct: 1, 'git binary': 3 }

type EngineTest = (title: string, test: (t: Test) => Promise<void>) => Promise<unknown>

/**
 * Returns what defines a test of an engine: every one of the direct engine, of the git binary a sample by the seed, and
 * all of them in a long run.
 */
export function engineTest(t: TAP | Test, engine: EngineName): EngineTest {
  return async (title, test) => {
    const name = `${engine}: ${title}`
    if (isDrawn(name, ONE_OF[engine])) await t.test(name, test)
  }
}
