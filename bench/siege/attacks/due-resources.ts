import { gitCommit } from '../../../test/harness/installation.ts'
import type { Attack } from '../attack.ts'
import { breathe, inLoops } from '../attack.ts'

const CONNECTIONS = 8
const MOST = 10_000

/** As many resources as the API server takes, each of which fails and is retried. */
export const dueResources: Attack = {
  name: 'due-resources',
  secrets: ['git'],
  async run({ create }, signal) {
    let [begun, created] = [0, 0]
    await inLoops(CONNECTIONS, signal, async () => {
      if (begun >= MOST) return breathe(signal)
      begun += 1
      const resourceRef = { apiVersion: 'v1', kind: 'ConfigMap', name: `missing-${begun}`, path: 'shop.yaml' }
      const resource = gitCommit(`due-${begun}`, 'https://localhost:1/acme/shop.git', { resourceRef })
      if ((await create(resource)) === 201) created += 1
    })
    return `${created} resources`
  },
}
