import { startGitServer } from '../../../test/harness/git-server.ts'
import { configMap, gitCommit, TOKEN } from '../../../test/harness/installation.ts'
import type { Attack } from '../attack.ts'
import { breathe } from '../attack.ts'

const EVERY_MS = 500
const BYTES = 16 * 1024 * 1024
/** The longest line of side-band-64k (git's gitprotocol-pack), less its length and its band. */
const LINE_BYTES = 65_515

/** A Git server that answers each push with 16 MiB of text for the user. */
export const remoteLines: Attack = {
  name: 'remote-lines',
  secrets: ['git'],
  async run({ authority, create }, signal) {
    const server = await startGitServer({ authority, users: [{ password: TOKEN }] })
    const { url } = await server.createRepository('acme/talkative')
    const headers = { 'content-type': 'application/x-git-receive-pack-result' }
    const body = talk()
    server.faults.add({ kind: 'status', status: 200, headers, body }, { exchange: 'receive-pack' })
    await create(configMap())
    let created = 0
    while (!signal.aborted) {
      // One branch each, so that the pushes are not one.
      const resource = gitCommit(`lines-${created}`, url, { branch: `b-${created}` })
      const status = await create(resource).catch(() => 0)
      if (status === 201) created += 1
      await breathe(signal, EVERY_MS)
    }
    const pushes = server.requests.filter(({ exchange }) => exchange === 'receive-pack').length
    await server.close()
    return `${created} resources, ${pushes} pushes answered with ${BYTES / 1024 / 1024} MiB`
  },
}

function talk(): string {
  const text = `\u0002${'Still counting the objects of your push\n'.repeat(2_000).slice(0, LINE_BYTES)}`
  const line = (text.length + 4).toString(16).padStart(4, '0') + text
  return line.repeat(Math.ceil(BYTES / line.length))
}
