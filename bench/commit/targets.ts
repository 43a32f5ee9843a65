import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readPrivateKey } from '../../functions/domain/private-key/private-key.ts'
import type { Target } from './writers.ts'

/** How to reach the SSH server of git-servers.ts. */
export interface ServedSSH {
  readonly url: string
  readonly knownHosts: string
  readonly privateKey: string
}

type Site = Pick<Target, 'caFile' | 'folder'>

/** The repository over HTTPS with a token. */
export function httpsTarget(site: Site, url: string, token: string): Target {
  const basic = Buffer.from(`x-access-token:${token}`).toString('base64')
  return {
    ...site,
    url,
    login: {
      method: 'password',
      username: 'x-access-token',
      password: token,
      identity: 'bench',
      secrets: [token],
    },
    env: {
      GIT_SSL_CAINFO: site.caFile,
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'http.extraHeader',
      GIT_CONFIG_VALUE_0: `Authorization: Basic ${basic}`,
    },
  }
}

/** The repository over SSH with a key. Git itself uses OpenSSH's client. */
export async function sshTarget(site: Site, { url, knownHosts, privateKey }: ServedSSH): Promise<Target> {
  const [key, hosts] = [join(site.folder, 'key'), join(site.folder, 'known_hosts')]
  await Promise.all([writeFile(key, privateKey, { mode: 0o600 }), writeFile(hosts, knownHosts)])
  const options = [
    'IdentitiesOnly=yes',
    'BatchMode=yes',
    'StrictHostKeyChecking=yes',
    `UserKnownHostsFile=${hosts}`,
  ]
  const read = readPrivateKey(Buffer.from(privateKey), { secret: 'bench/git', key: 'ssh-privatekey' })
  return {
    ...site,
    url,
    login: {
      method: 'key',
      namespace: 'bench',
      privateKey: read,
      hostKeys: knownHosts,
      identity: 'bench',
      secrets: [],
    },
    env: { GIT_SSH_COMMAND: `ssh -F /dev/null -i ${key} ${options.map((one) => `-o ${one}`).join(' ')}` },
  }
}
