import type { TAP, Test } from 'tap'
import { isDrawn } from '../../harness/sample.ts'
import type { EngineName } from '../stage.ts'

/**
 * Of how many cases one runs. The direct engine makes nearly all commits, by HTTPS; what the git binary's sessions and
 * the SSH channels do is tested in test/git/session and test/git/ssh, too.
 */
const ONE_OF: Readonly<Record<'https' | 'ssh', Readonly<Record<EngineName, number>>>> = {
  https: { direct: 1, 'git binary': 3 },
  ssh: { direct: 2, 'git binary': 3 },
}

type EngineTest = (title: string, test: (t: Test) => Promise<void>) => Promise<unknown>

/**
 * Returns what defines a test of an engine: every one of the direct engine over HTTPS, of the others a sample by the
 * seed, and all of them in a long run.
 */
export function engineTest(t: TAP | Test, engine: EngineName, by: keyof typeof ONE_OF = 'https'): EngineTest {
  return async (title, test) => {
    const name = `${engine}: ${title}`
    if (isDrawn(`${by} ${name}`, ONE_OF[by][engine])) await t.test(name, test)
  }
}
