import t from 'tap'
import { openAs } from '../cluster/stage.ts'
import { readyOf } from '../harness/conditions.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { configMap, gitCommit, install } from '../harness/installation.ts'
import { sized } from '../harness/sample.ts'
import { attemptsAt } from './tenant-stage.ts'

/** More events than are sent at once (256), and than may wait; in a long run as many as wait at most. */
const FLOOD = sized(800, 10_000)
/** Concurrent creations: what one tenant's script would do. */
const AT_ONCE = 16
/** Changes of one namespace that wait for a push at most: half of the events that the function takes in hand. */
const WAITING = 640
/** The least number of commits that another tenant makes meanwhile. */
const ROUNDS = 5

/** From the function's log: how many attempts of others ended before the first of this namespace. */
function endedBefore(lines: readonly string[], namespace: string): number {
  const ended = lines.filter((line) => line.includes('attempt '))
  const first = ended.findIndex((line) => line.includes(namespace))
  return first < 0 ? ended.length : first
}

withControlPlane(
  t,
  async (t, plane) => {
    const commitlet = await install(t, plane)
    const server = openAs(plane.kubeconfig)

    t.test(
      "one tenant's flood of GitCommits, at a server that hangs, does not keep another waiting",
      async (t) => {
        const [hog, other] = [await commitlet.createTeam(), await commitlet.createTeam()]
        const silent = await commitlet.git.createRepository(hog.namespace)
        commitlet.git.faults.add({ kind: 'hang' }, { repository: silent.name })
        await Promise.all([hog, other].map((team) => team.apply(configMap())))
        const path = `/apis/commitlet.dev/v1/namespaces/${hog.namespace}/gitcommits`
        const repository = await commitlet.git.createRepository(other.namespace)
        let made = 0
        const now = { rising: true, rounds: 0 }

        async function create(): Promise<void> {
          while (made < FLOOD) {
            made += 1
            const body = gitCommit(`flood-${made}`, silent.url, { branch: `b${made % 50}` })
            const { status, text } = await server({ method: 'POST', path, body })
            if (status !== 201) throw new Error(text)
          }
        }

        async function underWay(): Promise<number> {
          const args = ['get', 'gitcommits', '--field-selector=status.phase=Progressing', '-o', 'name']
          return (await hog.kubectl(args)).stdout.split('\n').filter((name) => name !== '').length
        }

        const done = (): void => void (now.rising = false)
        const flood = Promise.all(Array.from({ length: AT_ONCE }, create))
        flood.then(done, done)
        // The other tenant's commits, one after the other, while the flood grows and once it is complete.
        while (now.rising || now.rounds < ROUNDS) {
          const name = `own-${(now.rounds += 1)}`
          await other.apply(gitCommit(name, repository.url, { branch: name }))
          t.match(readyOf(await other.settled(name)), { reason: 'Succeeded' })
        }
        await flood
        const { stdout } = await plane.kubectl(['get', '--raw', `${path}?limit=1`])
        t.equal(JSON.parse(stdout).metadata.remainingItemCount, FLOOD - 1, 'all of them are there')
        const attempts = await attemptsAt(commitlet, other, now.rounds)
        t.equal(attempts, now.rounds, 'each commit of the other tenant took one attempt')
        const before = endedBefore(commitlet.function.lines, hog.namespace)
        t.ok(before >= ROUNDS, `${before} of them ended while the first attempts of the flood still waited`)
        t.ok((await underWay()) <= WAITING, 'the flood holds the share of one namespace')
        await commitlet.function.kill()
      },
    )
  },
  { own: true },
)
