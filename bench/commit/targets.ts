import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readPrivateKey } from '../../functions/domain/private-key/private-key.ts'
import { TOKEN, type ServedSSH } from '../remote/servers.ts'
import type { Target } from './writers.ts'

type Site = Pick<Target, 'caFile' | 'folder'>

/** A repository over HTTPS with the token. */
export function httpsTarget(site: Site, url: string): Target {
  const basic = Buffer.from(`x-access-token:${TOKEN}`).toString('base64')
  return {
    ...site,
    url,
    login: {
      method: 'password',
      username: 'x-access-token',
      password: TOKEN,
      identity: 'bench',
      secrets: [TOKEN],
    },
    env: {
      GIT_SSL_CAINFO: site.caFile,
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'http.extraHeader',
      GIT_CONFIG_VALUE_0: `Authorization: Basic ${basic}`,
    },
  }
}

/** A repository, by its name, over SSH with a key. Git itself uses OpenSSH's client. */
export async function sshTarget(site: Site, served: ServedSSH, name: string): Promise<Target> {
  const { url, knownHosts, privateKey } = served
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
    url: `${url}/${name}.git`,
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
