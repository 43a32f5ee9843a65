import { randomBytes } from 'node:crypto'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Certificate } from './certificates.ts'
import type { RunningPlane } from './control-plane-start.ts'

/** A user by client certificate. */
export interface ClientUser {
  readonly name: string
  readonly groups?: readonly string[]
}

/** A user by bearer token, such as a service account; the name is only for readers. */
export interface TokenUser {
  readonly name: string
  readonly token: string
}

/** A user with the certificate that was issued for them. */
export interface CertifiedUser extends Certificate {
  readonly name: string
}

/** A client certificate by which the API server knows this user. */
export function issueFor({ authority }: RunningPlane, user: ClientUser): Promise<Certificate> {
  return authority.issue({ names: [], clientName: user.name, organization: user.groups ?? [] })
}

/** Writes a kubeconfig of this user into the control plane's folder and returns its path. */
export async function writeKubeconfig(
  running: RunningPlane,
  user: CertifiedUser | TokenUser,
): Promise<string> {
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
        user: 'token' in user ? { token: user.token } : certificateIn(user),
      },
    ],
  }
  const file = join(running.folder, `kubeconfig-${randomBytes(4).toString('hex')}`)
  await writeFile(file, JSON.stringify(content, undefined, 2), { mode: 0o600 })
  return file
}

function certificateIn({ certPEM, keyPEM }: Certificate): object {
  return { 'client-certificate-data': base64(certPEM), 'client-key-data': base64(keyPEM) }
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64')
}
