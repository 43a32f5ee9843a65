import t from 'tap'
import { withControlPlane } from '../harness/control-plane.ts'
import { gitCommit, install, TOKEN, type Team } from '../harness/installation.ts'
import { isLong } from '../harness/sample.ts'
import { waitFor } from '../harness/wait.ts'

/** GitCommits that wait for as many objects, in so many namespaces. late-objects.test.ts has a few of them. */
const WAITING = 10_000
const NAMESPACES = 10
/** Concurrent creations. */
const AT_ONCE = 16
const MINUTE = 60_000
/** An object is created so long after the resource that names it. */
const LATE_MS = MINUTE
const LANDED_MS = 20_000
const ALL_TRIED_MS = 20 * MINUTE

if (!isLong()) t.pass('10,000 that wait', { skip: 'it takes minutes: npm run test:long' })
else
  withControlPlane(
    t,
    async (t, plane) => {
      const commitlet = await install(t, plane)
      const teams = await Promise.all(Array.from({ length: NAMESPACES }, () => commitlet.createTeam()))
      const other = await commitlet.createTeam({ secrets: ['git', 'later'] })
      const { url } = await commitlet.git.createRepository(other.namespace)
      const keys = { credentials: { secretName: 'later', tokenKey: 'token' } }

      function commit(name: string, spec: Readonly<Record<string, unknown>> = {}): object {
        const resourceRef = { apiVersion: 'v1', kind: 'ConfigMap', name, path: `shop/${name}.yaml` }
        return gitCommit(name, url, { branch: 'main', resourceRef, ...spec })
      }

      function configMap(name: string): object {
        return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { colour: 'blue' } }
      }

      async function createAll(): Promise<void> {
        let made = 0
        async function create(): Promise<void> {
          while (made < WAITING) {
            const [index, team] = [made, teams[made % NAMESPACES]]
            made += 1
            const path = `/apis/commitlet.dev/v1/namespaces/${team?.namespace ?? ''}/gitcommits`
            await plane.api.need('POST', path, commit(`waiting-${index}`))
          }
        }
        await Promise.all(Array.from({ length: AT_ONCE }, create))
      }

      async function allTried(): Promise<true | undefined> {
        const query = `fieldSelector=${encodeURIComponent('status.phase!=Retrying')}&limit=1`
        const list = await plane.api.need('GET', `/apis/commitlet.dev/v1/gitcommits?${query}`)
        return (list as { readonly items: readonly unknown[] }).items.length === 0 || undefined
      }

      /** Creates the object a minute after the resource; returns the milliseconds until it has landed. */
      async function late(team: Team, name: string, object: object): Promise<number> {
        const begun = performance.now()
        await team.waitFor(name, 'jsonpath={.status.phase}=Retrying', '60s')
        const isLate = (): true | undefined => performance.now() - begun > LATE_MS || undefined
        await waitFor('minute', isLate, 2 * MINUTE)
        const from = performance.now()
        await team.apply(object)
        await team.waitFor(name, 'jsonpath={.status.phase}=Succeeded', '300s')
        return performance.now() - from
      }

      t.test(
        'while 10,000 wait for as many objects, one that comes a minute late lands in time',
        async (t) => {
          await createAll()
          await waitFor('attempt of each', allTried, ALL_TRIED_MS)
          const among = teams[0] ?? other
          await other.apply(commit('by-object'), configMap('by-secret'), commit('by-secret', keys))
          await among.apply(commit('among'))
          const secret = {
            apiVersion: 'v1',
            kind: 'Secret',
            metadata: { name: 'later' },
            stringData: { token: TOKEN },
          }
          const [byObject, bySecret, crowded] = await Promise.all([
            late(other, 'by-object', configMap('by-object')),
            late(other, 'by-secret', secret),
            late(among, 'among', configMap('among')),
          ])
          t.ok(byObject < LANDED_MS, `a ConfigMap: ${Math.round(byObject)} ms`)
          t.ok(bySecret < LANDED_MS, `a Secret: ${Math.round(bySecret)} ms`)
          t.comment(`a ConfigMap ${byObject.toFixed(0)} ms, a Secret ${bySecret.toFixed(0)} ms`)
          t.comment(`in a namespace where 1,000 wait: ${crowded.toFixed(0)} ms`)
        },
      )
    },
    { own: isLong() },
  )
