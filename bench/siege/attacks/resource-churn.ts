import { randomUUID } from 'node:crypto'
import { gitCommit } from '../../../test/harness/installation.ts'
import type { Attack } from '../attack.ts'
import { inLoops } from '../attack.ts'

const CONNECTIONS = 32

/** Resources that are created and deleted at once: their events and sweeps find nothing any more. */
export const resourceChurn: Attack = {
  name: 'resource-churn',
  secrets: ['git'],
  async run({ api, create, namespace }, signal) {
    let [created, deleted] = [0, 0]
    await inLoops(CONNECTIONS, signal, async () => {
      const name = `churn-${randomUUID()}`
      if ((await create(gitCommit(name, 'https://localhost:1/acme/shop.git'))) === 201) created += 1
      const path = `/apis/commitlet.dev/v1/namespaces/${namespace}/gitcommits/${name}`
      if ((await api({ method: 'DELETE', path })).status === 200) deleted += 1
    })
    return `${created} resources created, ${deleted} deleted`
  },
}
