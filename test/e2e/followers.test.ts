import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { parse } from 'yaml'
import { ACCOUNTS, SYSTEM, untilAllowed } from '../harness/accounts.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { readyOf } from '../harness/conditions.ts'
import { configMap, gitCommit, install, type Stored, type Team } from '../harness/installation.ts'
import { drawnTests } from '../harness/drawn-test.ts'
import { isLong, sized } from '../harness/sample.ts'
import { waitFor } from '../harness/wait.ts'

const MINUTE = 60_000
const DOCS = join(import.meta.dirname, '../../docs')
/** The first YAML after the heading. */
function exampleIn(page: string, heading: string): string {
  const text = readFileSync(join(DOCS, page), 'utf8')
  const [, example = ''] = /```yaml\n(.*?)```/s.exec(text.slice(text.indexOf(`${heading}\n`))) ?? []
  return example
}
/** Followers, the ConfigMaps that they share, how often each is changed, and how often the function is killed meanwhile. */
const [FOLLOWERS, MAPS, CHANGES, KILLS] = [sized(24, 1_000), sized(6, 100), sized(3, 10), sized(3, 12)]
const BRANCHES = 4
/** Within it everything has arrived, also what no event has told: the shortest interval is a minute. */
const ARRIVAL_MS = sized(3 * MINUTE, 20 * MINUTE)

interface Synced {
  readonly seenTime?: string
  readonly commits: number
}

function syncOf({ status }: Stored): Synced | undefined {
  return status['sync'] as Synced | undefined
}

await withControlPlane(
  t,
  async (t, plane) => {
    const commitlet = await install(t, plane, { webhookEnv: { SWEEP_INTERVAL: '3' } })
    let running = commitlet.function

    /** Tells the function that a ConfigMap has changed, as an ApiServerSource does; what it does not hear is lost. */
    async function tell({ namespace }: Team, name: string): Promise<void> {
      const headers = {
        'ce-specversion': '1.0',
        'ce-id': randomUUID(),
        'ce-source': '/test',
        'ce-type': 'dev.knative.apiserver.ref.update',
        'content-type': 'application/json',
      }
      const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name })
      await fetch(running.url, { method: 'POST', headers, body }).catch(() => undefined)
    }

    /** A team in whose namespace the function may search, as manifests/triggers/referenced-objects allows it everywhere. */
    async function createTeam(developers: readonly string[] = []): Promise<Team> {
      const team = await commitlet.createTeam({ developers })
      const roles = `/apis/rbac.authorization.k8s.io/v1/namespaces/${team.namespace}`
      const rules = [
        { apiGroups: ['commitlet.dev'], resources: ['gitcommits', 'pullrequests'], verbs: ['list'] },
      ]
      await plane.api.need('POST', `${roles}/roles`, { metadata: { name: 'search' }, rules })
      await plane.api.need('POST', `${roles}/rolebindings`, {
        metadata: { name: 'search' },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'search' },
        subjects: [{ kind: 'ServiceAccount', namespace: SYSTEM, name: ACCOUNTS.function }],
      })
      const resource = 'gitcommits.commitlet.dev'
      await untilAllowed(plane, { account: 'function', verb: 'list', resource, namespace: team.namespace })
      return team
    }

    function follower(name: string, url: string, spec: object = {}): object {
      return gitCommit(name, url, { branch: 'main', sync: 'OnChange', ...spec })
    }

    // The models and the faults try the same in another way.
    const drawn = drawnTests(t, 2)
    t.test(
      'the example of the page, with the fields that the reference shows, follows its ConfigMap',
      async (t) => {
        const team = await createTeam()
        const repository = await commitlet.git.createRepository(`${team.namespace}/config`)
        const source = (colour: string): object => ({
          ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shop-settings' }, data: { colour } },
        })
        const text = exampleIn('following.md', '# Following changes')
        t.match(parse(text), { spec: parse(exampleIn('gitcommit.md', '## Following changes')) })
        await team.apply(source('red'))
        const input = text
          .replace('https://git.example.com/acme/config.git', repository.url)
          .replace('git-credentials', 'git')
        await team.kubectl(['apply', '-f', '-'], { input })
        await team.settled('shop-settings')
        await team.apply(source('blue'))
        await tell(team, 'shop-settings')
        await team.waitFor('shop-settings', 'jsonpath={.status.sync.commits}=2', '30s')
        t.match(await repository.show('main:shop/settings.yaml'), 'colour: blue')
      },
    )

    t.test('A, B, A are three commits, and the status shows what was seen', async (t) => {
      const team = await createTeam(['developer'])
      const repository = await commitlet.git.createRepository(`${team.namespace}/config`)
      await team.apply(configMap())
      t.equal((await team.applyAs('developer', follower('shop', repository.url))).code, 0)
      await team.settled('shop')
      for (const [i, colour] of ['red', 'blue'].entries()) {
        await team.apply(configMap({ colour }))
        await tell(team, 'shop')
        await team.waitFor('shop', `jsonpath={.status.sync.commits}=${i + 2}`, '30s')
      }
      const stored = await team.get('shop')
      t.match(stored.status, {
        phase: 'Succeeded',
        sync: { seenTime: /^\d{4}-/, digest: /^[0-9a-f]{16}$/ },
        commit: { sha: await repository.git('rev-parse', 'main') },
      })
      const ids = await repository.git(
        'log',
        '--format=%(trailers:key=Commitlet-Id,valueonly,separator=)',
        'main',
      )
      const own = ids.split('\n').filter((id) => id.startsWith(stored.metadata.uid))
      t.equal(new Set(own).size, 3)
      t.equal(own.length, 3)

      await plane.api.need(
        'DELETE',
        `/apis/rbac.authorization.k8s.io/v1/namespaces/${team.namespace}/rolebindings/developers`,
      )
      // A review that has allowed counts for some seconds.
      let changes = 0
      const outcome = async (): Promise<'refused' | 'followed' | undefined> => {
        const { status } = await team.get('shop')
        if (status['phase'] === 'Failed') return 'refused'
        return Object(status['sync']).commits >= 3 + changes ? 'followed' : undefined
      }
      await waitFor(
        'end of the right',
        async () => {
          await team.apply(configMap({ colour: `green ${(changes += 1)}` }))
          await tell(team, 'shop')
          return (await waitFor('the end of an attempt', outcome, MINUTE)) === 'refused' || undefined
        },
        MINUTE,
      )
      const failed = await team.get('shop')
      t.match(readyOf(failed), { reason: 'ReferenceForbidden', message: /ConfigMap|configmaps/ })
      await team.apply(configMap({ colour: 'black' }))
      await tell(team, 'shop')
      t.same(await team.get('shop'), failed, 'nothing is followed any more')
    })

    void drawn(
      'without an event, the interval finds what has changed, and what is suspended waits',
      async (t) => {
        const team = await createTeam()
        const repository = await commitlet.git.createRepository(`${team.namespace}/config`)
        await team.apply(configMap(), follower('shop', repository.url, { interval: '1m' }))
        await team.apply(follower('waiting', repository.url, { interval: '1m', suspend: true }))
        await team.settled('shop')
        await team.apply(configMap({ colour: 'red' }))
        await team.waitFor('shop', 'jsonpath={.status.sync.commits}=2', '90s')
        t.match((await team.get('waiting')).status, { phase: 'Suspended' })
        t.equal(syncOf(await team.get('waiting')), undefined)
      },
    )

    void drawn(
      'under kill -9, each follower commits the changes seen, in order, none twice, and the last one',
      async (t) => {
        const team = await createTeam()
        const repository = await commitlet.git.createRepository(`${team.namespace}/config`)
        const git = repository.git.bind(repository)
        const map = (number: number, value: number): object => ({
          apiVersion: 'v1',
          kind: 'ConfigMap',
          metadata: { name: `map-${number}` },
          data: { value: `${value}\n` },
        })
        const maps = Array.from({ length: MAPS }, (_, i) => i)
        await inParallel(maps, (i) => team.apply(map(i, 0)))
        await inParallel(
          Array.from({ length: FOLLOWERS }, (_, i) => i),
          (i) => {
            const resourceRef = {
              apiVersion: 'v1',
              kind: 'ConfigMap',
              name: `map-${i % MAPS}`,
              field: '.data.value',
            }
            const spec = { branch: `b-${i % BRANCHES}`, interval: '1m', resourceRef: undefined }
            return team.apply(
              follower(`f-${i}`, repository.url, { ...spec, files: [{ path: `f/${i}.txt`, resourceRef }] }),
            )
          },
        )

        let changed = false
        async function killing(): Promise<void> {
          for (let kills = 0; kills < KILLS && !changed; kills += 1) {
            await pause(1_000 + Math.random() * 2_000)
            await running.kill()
            running = await commitlet.startFunction()
          }
        }
        async function changing(): Promise<void> {
          for (let value = 1; value <= CHANGES; value += 1) {
            await inParallel(maps, async (i) => {
              await team.apply(map(i, value))
              await tell(team, `map-${i}`)
            })
            await pause(1_000)
          }
        }
        const kills = killing()
        await changing()
        changed = true
        await kills
        await inParallel(maps, (i) => tell(team, `map-${i}`))

        const branches = Array.from({ length: BRANCHES }, (_, i) => `b-${i}`)
        const path = `/apis/commitlet.dev/v1/namespaces/${team.namespace}/gitcommits`
        const list = async () =>
          ((await plane.api.need('GET', path)) as { readonly items: readonly Stored[] }).items
        await waitFor(
          'last state of each',
          async () => {
            const values = await Promise.all(branches.map((branch) => valuesOn(git, branch)))
            const late = values.flat().filter((value) => value !== CHANGES).length
            const isSettled = (await list()).every(({ status }) => status['phase'] === 'Succeeded')
            return (values.flat().length === FOLLOWERS && late === 0 && isSettled) || undefined
          },
          ARRIVAL_MS,
        )
        const histories = new Map<string, Commit[]>()
        for (const branch of branches)
          for (const commit of await commitsOn(git, branch))
            histories.set(commit.file, [...(histories.get(commit.file) ?? []), commit])
        t.equal(histories.size, FOLLOWERS)
        const ids = [...histories.values()].flat().map(({ id }) => id)
        t.equal(new Set(ids).size, ids.length, 'none twice')
        const disordered = [...histories].filter(([, commits]) =>
          commits.some(({ value }, i) => i > 0 && value <= (commits[i - 1]?.value ?? -1)),
        )
        t.same(disordered, [], 'in order')
        const madeFor = ({ metadata }: Stored): number =>
          histories.get(`f/${metadata.name.slice(2)}.txt`)?.length ?? 0
        const counts = (await list()).map((stored) => ({
          counted: syncOf(stored)?.commits ?? 0,
          made: madeFor(stored),
        }))
        // A push that a killed attempt had sent may land after the next one has searched for it: nobody counts it.
        t.same(
          counts.filter(({ counted, made }) => counted > made),
          [],
          'none is counted twice',
        )
        const uncounted = counts.reduce((sum, { counted, made }) => sum + made - counted, 0)
        t.comment(`${uncounted} not counted`)
        t.comment(`${ids.length} commits of ${FOLLOWERS} followers, ${CHANGES} changes, ${KILLS} kills`)
      },
    )
  },
  { own: isLong() },
)

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<unknown>): Promise<void> {
  const waiting = [...items]
  const worker = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await work(next)
  }
  await Promise.all(Array.from({ length: 8 }, worker))
}

type RunGit = (...args: readonly string[]) => Promise<string>

/** The content of each file of the followers at the tip of a branch. */
async function valuesOn(git: RunGit, branch: string): Promise<readonly number[]> {
  const lines = await git('grep', '-h', '', branch, '--', 'f').catch(() => '')
  return lines
    .split('\n')
    .filter((line) => line !== '')
    .map(Number)
}

interface Commit {
  readonly id: string
  readonly file: string
  readonly value: number
}

/** What each commit has written, the oldest first; one that only holds off an earlier push has written nothing. */
async function commitsOn(git: RunGit, branch: string): Promise<readonly Commit[]> {
  const format = '--format=commit %(trailers:key=Commitlet-Id,valueonly,separator=)'
  const text = await git('log', '--reverse', '-p', '--unified=0', format, branch, '--', 'f')
  const commits: Commit[] = []
  let [id, file] = ['', '']
  for (const line of text.split('\n')) {
    if (line.startsWith('commit ')) id = line.slice('commit '.length)
    else if (line.startsWith('+++ b/')) file = line.slice('+++ b/'.length)
    else if (/^\+\d+$/.test(line)) commits.push({ id, file, value: Number(line) })
  }
  return commits
}
