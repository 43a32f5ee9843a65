import type { TAP, Test } from 'tap'
import { drawnTests, type DefineTest } from '../../harness/drawn-test.ts'
import type { EngineName } from '../stage.ts'

/**
 * Of how many cases one runs. The direct engine makes nearly all commits, and its parts are tested in test/git/direct; what
 * the git binary's sessions and tunnels do is tested in test/git/session and test/git/ssh, too. Where lines are counted,
 * all run: the lines of an engine are counted here.
 */
const ONE_OF: Readonly<Record<EngineName, number>> = { direct: 3, 'git binary': 8 }

/**
 * Returns what defines a test of an engine: of each engine a sample by the seed, and all of them in a long run.
 */
export function engineTest(t: TAP | Test, engine: EngineName): DefineTest {
  const test = drawnTests(t, ONE_OF[engine])
  return (title, run) => test(`${engine}: ${title}`, run)
}
