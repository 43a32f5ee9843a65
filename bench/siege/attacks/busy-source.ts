import { randomUUID } from 'node:crypto'
import { gitCommit } from '../../../test/harness/installation.ts'
import type { Attack } from '../attack.ts'
import { breathe, inLoops } from '../attack.ts'

const PATCH = { method: 'PATCH', contentType: 'application/merge-patch+json' } as const
const FOLLOWERS = 500
const CREATING = 8
const TELLING = 4
const PAUSE_MS = 50

/** Many followers of one ConfigMap that changes all the time, with events about each change. */
export const busySource: Attack = {
  name: 'busy-source',
  secrets: ['git'],
  async run({ api, create, functionURL, namespace }, signal) {
    let [created, changes, told] = [0, 0, 0]
    const source = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'busy' }, data: { n: '0' } }
    await create(source)
    const resourceRef = { apiVersion: 'v1', kind: 'ConfigMap', name: 'busy', path: 'busy.yaml' }
    await inLoops(CREATING + TELLING + 1, signal, async (loop) => {
      if (loop < CREATING && created < FOLLOWERS) {
        created += 1
        const spec = { resourceRef, sync: 'OnChange', interval: '1m' }
        await create(gitCommit(`busy-${created}`, 'https://localhost:1/acme/shop.git', spec))
      } else if (loop === CREATING) {
        changes += 1
        const path = `/api/v1/namespaces/${namespace}/configmaps/busy`
        await api({ ...PATCH, path, body: { data: { n: String(changes) } } })
      } else if (loop > CREATING && (await tell(functionURL, namespace))) told += 1
      await breathe(signal, PAUSE_MS)
    })
    return `${created} followers, ${changes} changes, ${told} events`
  },
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
