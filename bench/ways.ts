import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readPrivateKey } from '../functions/domain/credentials/private-key.ts'
import type { Target } from './methods.ts'

/** What bench/server.ts prints of its SSH server. */
export interface ServedSSH {
  readonly url: string
  readonly knownHosts: string
  readonly privateKey: string
}

type Place = Pick<Target, 'caFile' | 'folder'>

/** The repository over HTTPS, by a token. */
export function overHTTPS(place: Place, url: string, token: string): Target {
  const basic = Buffer.from(`x-access-token:${token}`).toString('base64')
  return {
    ...place,
    url,
    login: {
      method: 'password',
      username: 'x-access-token',
      password: token,
      identity: 'bench',
      secrets: [token],
    },
    env: {
      GIT_SSL_CAINFO: place.caFile,
      GIT_CONFIG_COUNT: '1',
      GIT_CONFIG_KEY_0: 'http.extraHeader',
      GIT_CONFIG_VALUE_0: `Authorization: Basic ${basic}`,
    },
  }
}

/** The repository over SSH, by a key; git itself uses OpenSSH's client. */
export async function overSSH(place: Place, { url, knownHosts, privateKey }: ServedSSH): Promise<Target> {
  const [key, hosts] = [join(place.folder, 'key'), join(place.folder, 'known_hosts')]
  await Promise.all([writeFile(key, privateKey, { mode: 0o600 }), writeFile(hosts, knownHosts)])
  const options = [
    'IdentitiesOnly=yes',
    'BatchMode=yes',
    'StrictHostKeyChecking=yes',
    `UserKnownHostsFile=${hosts}`,
  ]
  const read = readPrivateKey(Buffer.from(privateKey), { secret: 'bench/git', key: 'ssh-privatekey' })
  return {
    ...place,
    url,
    login: { method: 'key', privateKey: read, hostKeys: knownHosts, identity: 'bench', secrets: [] },
    env: { GIT_SSH_COMMAND: `ssh -F /dev/null -i ${key} ${options.map((one) => `-o ${one}`).join(' ')}` },
  }
}
