import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RunningPlane } from './control-plane-start.ts'

/** A user by client certificate. */
export interface ClientUser {
  readonly name: string
  readonly groups?: readonly string[]
}

/** Writes a kubeconfig of this user into the control plane's folder and answers its path. */
export async function writeKubeconfig(running: RunningPlane, user: ClientUser): Promise<string> {
  const client = { names: [], clientName: user.name, organization: user.groups ?? [] }
  const { certPEM, keyPEM } = await running.authority.issue(client)
  const base64 = (text: string) => Buffer.from(text).toString('base64')
  const content = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'test',
    contexts: [{ name: 'test', context: { cluster: 'test', user: user.name } }],
    clusters: [
      {
        name: 'test',
        cluster: { server: running.url, 'certificate-authority-data': base64(running.authority.certPEM) },
      },
    ],
    users: [
      {
        name: user.name,
        user: { 'client-certificate-data': base64(certPEM), 'client-key-data': base64(keyPEM) },
      },
    ],
  }
  const file = join(running.folder, `kubeconfig-${randomBytes(4).toString('hex')}`)
  await writeFile(file, JSON.stringify(content, undefined, 2), { mode: 0o600 })
  return file
}
