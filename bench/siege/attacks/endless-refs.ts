import { startGitServer } from '../../../test/harness/git-server.ts'
import { configMap, gitCommit, TOKEN } from '../../../test/harness/installation.ts'
import type { Attack } from '../attack.ts'
import { breathe } from '../attack.ts'

const EVERY_MS = 500

/** A Git server whose list of refs has no end. */
export const endlessRefs: Attack = {
  name: 'endless-refs',
  secrets: ['git'],
  async run({ authority, create }, signal) {
    const server = await startGitServer({ authority, users: [{ password: TOKEN }] })
    server.faults.add({ kind: 'endless' })
    await create(configMap())
    let created = 0
    while (!signal.aborted) {
      const address = `${server.url}/acme/endless-${created}.git`
      const status = await create(gitCommit(`refs-${created}`, address)).catch(() => 0)
      if (status === 201) created += 1
      await breathe(signal, EVERY_MS)
    }
    const requests = server.requests.length
    await server.close()
    return `${created} resources, ${requests} requests answered without an end`
  },
}
