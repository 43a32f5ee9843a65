import { randomUUID } from 'node:crypto'
import { startGitServer } from '../../../test/harness/git-server.ts'
import { gitCommit, TOKEN } from '../../../test/harness/installation.ts'
import type { Arena, Attack } from '../attack.ts'
import { breathe, inLoops } from '../attack.ts'

const PATCH = { method: 'PATCH', contentType: 'application/merge-patch+json' } as const
const NAMESPACES = 10
/** In each namespace. */
const FOLLOWERS = 100
/** Each changes the source of one namespace and tells of it. */
const CHANGING = NAMESPACES
const CREATING = 8
/** Each source changes four times a second. */
const PAUSE_MS = 250

/** Many followers of one ConfigMap in each namespace, which changes all the time, with events about each change: all are attempted, and succeed. */
export const busySource: Attack = {
  name: 'busy-source',
  secrets: ['git'],
  namespaces: NAMESPACES,
  async run(arena, signal) {
    const { authority, create, namespaces } = arena
    const git = await startGitServer({ users: [{ password: TOKEN }], authority })
    try {
      const urls = new Map<string, string>()
      for (const namespace of namespaces) {
        urls.set(namespace, (await git.createRepository(`${namespace}/busy`)).url)
        const source = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'busy' }, data: { n: '0' } }
        await create(source, namespace)
      }
      let [created, changes, told] = [0, 0, 0]
      await inLoops(CREATING + CHANGING, signal, async (loop) => {
        const namespace = namespaces[(loop < CREATING ? created : loop) % namespaces.length]!
        if (loop >= CREATING) {
          changes += 1
          await change(arena, namespace, changes)
          if (await tell(arena.functionURL, namespace)) told += 1
          await breathe(signal, PAUSE_MS)
        } else if (created < FOLLOWERS * NAMESPACES) {
          created += 1
          const name = `busy-${created}`
          const resourceRef = { apiVersion: 'v1', kind: 'ConfigMap', name: 'busy', path: `${name}.yaml` }
          await create(gitCommit(name, urls.get(namespace)!, { resourceRef, sync: 'OnChange' }), namespace)
        } else await breathe(signal, PAUSE_MS)
      })
      const pushes = git.requests.length
      return `${created} followers, ${changes} changes, ${told} events, ${pushes} requests to Git`
    } finally {
      await git.close()
    }
  },
}

async function change({ api }: Arena, namespace: string, n: number): Promise<void> {
  const path = `/api/v1/namespaces/${namespace}/configmaps/busy`
  await api({ ...PATCH, path, body: { data: { n: String(n) } } })
}

/** As an ApiServerSource in reference mode does; whether it was accepted. */
async function tell(url: string, namespace: string): Promise<boolean> {
  const headers = {
    'ce-specversion': '1.0',
    'ce-id': randomUUID(),
    'ce-source': '/attack',
    'ce-type': 'dev.knative.apiserver.ref.update',
    'content-type': 'application/json',
  }
  const body = JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', namespace, name: 'busy' })
  const { status } = await fetch(url, { method: 'POST', headers, body })
  return status === 202
}
