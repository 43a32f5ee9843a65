import t from 'tap'
import { openAs } from '../cluster/stage.ts'
import { readyOf } from '../harness/conditions.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { configMap, gitCommit, install } from '../harness/installation.ts'

const FLOOD = 10_000
/** Creations at once: what one tenant's script would do. */
const AT_ONCE = 16

withControlPlane(
  t,
  async (t, plane) => {
    const commitlet = await install(t, plane)
    const server = openAs(plane.kubeconfig)

    t.test(
      "one tenant's ten thousand GitCommits, at a server that hangs, do not keep another waiting",
      async (t) => {
        const [hog, other] = [await commitlet.createTeam(), await commitlet.createTeam()]
        const silent = await commitlet.git.createRepository(hog.namespace)
        commitlet.git.faults.add({ kind: 'hang' }, { repository: silent.name })
        await Promise.all([hog, other].map((team) => team.apply(configMap())))
        const path = `/apis/commitlet.dev/v1/namespaces/${hog.namespace}/gitcommits`
        const repository = await commitlet.git.createRepository(other.namespace)
        const waits: number[] = []
        let made = 0

        async function create(): Promise<void> {
          while (made < FLOOD) {
            made += 1
            const body = gitCommit(`flood-${made}`, silent.url, { branch: `b${made % 50}` })
            const { status, text } = await server({ method: 'POST', path, body })
            if (status !== 201) throw new Error(text)
          }
        }

        /** The other tenant's commits, one after the other, while the flood rises and once it stands. */
        async function commitMeanwhile(flood: Promise<unknown>): Promise<void> {
          const now = { rising: true }
          void flood.finally(() => (now.rising = false))
          for (let round = 1; now.rising || round <= 5; round += 1) {
            const began = performance.now()
            await other.apply(gitCommit(`own-${round}`, repository.url, { branch: `own-${round}` }))
            t.match(readyOf(await other.settled(`own-${round}`)), { reason: 'Succeeded' })
            waits.push(performance.now() - began)
          }
        }

        const flood = Promise.all(Array.from({ length: AT_ONCE }, create))
        await commitMeanwhile(flood)
        await flood
        const { stdout } = await plane.kubectl(['get', '--raw', `${path}?limit=1`])
        t.equal(JSON.parse(stdout).metadata.remainingItemCount, FLOOD - 1, 'all of them are there')
        t.comment(
          `${waits.length} commits of another tenant, the slowest after ${Math.max(...waits).toFixed()} ms`,
        )
      },
    )
  },
  { own: true },
)
