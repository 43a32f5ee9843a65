import type { TAP, Test } from 'tap'
import { drawnTests, type DefineTest } from '../../harness/drawn-test.ts'
import type { Way } from '../stage.ts'

/**
 * Of how many cases one runs. The direct engine makes nearly all commits, and its parts are tested in test/git/direct; what
 * the git binary's sessions and tunnels do is tested in test/git/session and test/git/ssh, too. Where lines are counted,
 * all run: the lines of an engine are counted here. The first of the direct engine always does: a file without any test would
 * not end.
 */
const ONE_OF: Readonly<Record<Way, number>> = { direct: 4, 'git binary': 12, API: 4 }

/** Rows of a suite that do not hold for commits by the API, and why. */
export type Exempt = Readonly<Record<string, string>>

/**
 * Returns what defines a test of an engine, or of the API: of each a sample by the seed, and all of them in a long run. A
 * row that is exempt is not defined for the API, and has to be one of the suite.
 */
export function engineTest(t: TAP | Test, way: Way, exempt: Exempt = {}): DefineTest {
  const drawn = drawnTests(t, ONE_OF[way])
  let isKept = way === 'direct'
  const unseen = new Set(way === 'API' ? Object.keys(exempt) : [])
  t.teardown(() => {
    if (unseen.size > 0) throw new Error(`These rows are not in the suite: ${[...unseen].join(', ')}`)
  })
  return async (title, run) => {
    if (unseen.delete(title)) return
    const name = `${way}: ${title}`
    await (isKept ? t.test(name, run) : drawn(name, run))
    isKept = false
  }
}
