import t from 'tap'
import type { ApiServer } from '../../../functions/cluster/api-server.ts'
import { watchFollowers } from '../../../functions/cluster/sweep/followers.ts'
import { installObjects } from '../../harness/commitlet.ts'
import { withControlPlane } from '../../harness/control-plane.ts'
import { gitCommit } from '../../harness/installation.ts'
import { waitFor } from '../../harness/wait.ts'
import { recordingLog } from '../../webhook/stage.ts'
import { openAs } from '../stage.ts'

const DEADLINE = 30_000

function watch(t: { readonly teardown: (end: () => void) => unknown }, server: ApiServer) {
  const { log, lines } = recordingLog()
  const followers = watchFollowers({ server, log, elapsed: () => performance.now() })
  const end = new AbortController()
  t.teardown(() => end.abort())
  const names = (namespace: string): string =>
    [...followers.rows()]
      .filter(({ ref }) => ref.namespace === namespace)
      .map(({ ref, interval = '-' }) => `${ref.name} ${interval}`)
      .toSorted()
      .join()
  return { ...followers, end, lines, names, begin: () => followers.begin(end.signal) }
}

withControlPlane(t, async (t, plane) => {
  await installObjects(plane)
  const namespace = await plane.createNamespace()
  const base = `/apis/commitlet.dev/v1/namespaces/${namespace}/gitcommits`
  const merge = { 'content-type': 'application/merge-patch+json' }
  const create = (name: string, spec: Readonly<Record<string, unknown>>) =>
    plane.api.need('POST', base, gitCommit(name, 'https://git.example.com/a/b.git', spec))

  t.test('those that were there, those that come, and none that follows no more', async (t) => {
    await create('before', { sync: 'OnChange' })
    await create('once', {})
    await create('said-once', { sync: 'Once' })
    const followers = watch(t, openAs(plane.kubeconfig))
    t.equal(followers.isFollowed(), false)
    followers.begin()
    const become = (names: string) =>
      waitFor(names, () => followers.names(namespace) === names || undefined, DEADLINE)
    await become('before -')
    await create('later', { sync: 'OnChange', interval: '1h' })
    await become('before -,later 1h')
    await plane.api.need('PATCH', `${base}/later`, { spec: { sync: 'Once', interval: null } }, merge)
    await plane.api.need('PATCH', `${base}/before`, { spec: { interval: '2m' } }, merge)
    await become('before 2m')
    followers.begin()
    t.equal(followers.names(namespace), 'before 2m', 'they are watched already')
    await plane.api.need('DELETE', `${base}/before`)
    await become('')
    followers.end.abort()
    await waitFor('the end', () => !followers.isFollowed() || undefined, DEADLINE)
  })
})

t.test('without the right to watch, one line says so', async (t) => {
  const followers = watch(t, async () => ({ status: 403, text: '{}' }))
  for (let rounds = 0; rounds < 2; rounds += 1) {
    followers.begin()
    await waitFor('the end', () => !followers.isFollowed() || undefined, DEADLINE)
  }
  t.match(followers.lines, [{ level: 40, msg: /no right to watch/ }])
  t.equal(followers.lines.length, 1)
})

t.test('after the signal has fired nothing is watched', async (t) => {
  const followers = watch(t, () => new Promise(() => undefined))
  followers.end.abort()
  followers.begin()
  t.equal(followers.isFollowed(), false)
})
