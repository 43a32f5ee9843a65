import { generateKeyPairSync } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { applierBy } from '../harness/apply.ts'
import type { ControlPlane, Ran } from '../harness/control-plane.ts'
import type { GitUser } from '../harness/git-site.ts'
import { memoryApps, publicHalf } from '../harness/hosts/github-app.ts'
import type { ModelApps } from '../harness/hosts/github-app.ts'
import { reviewed } from '../harness/rights.ts'
import type { SSHServer } from '../harness/ssh-server.ts'
import { waitFor } from '../harness/wait.ts'
import { PASSWORD, WRONG } from './distinctive-secrets.ts'

const FOLDER = join(import.meta.dirname, '../../examples/authentication')

/** A file for a developer, the administrator's that goes with it, and the user name that Git sends. */
export interface Example {
  readonly file: string
  readonly rights?: string
  readonly username?: string
}

export const EXAMPLES: readonly Example[] = [
  { file: 'https-token.yaml', username: 'x-access-token' },
  { file: 'https-token-with-username.yaml', username: 'commitlet' },
  { file: 'https-username-and-password.yaml', username: 'commitlet' },
  { file: 'github-app.yaml' },
  { file: 'bitbucket-api-token.yaml', username: 'x-bitbucket-api-token-auth' },
  { file: 'ssh-key.yaml' },
  { file: 'ssh-known-hosts.yaml' },
  { file: 'fallback.yaml', username: 'x-access-token' },
  { file: 'shared-secret-gitcommit.yaml', rights: 'shared-secret.yaml', username: 'x-access-token' },
  {
    file: 'default-credentials-gitcommit.yaml',
    rights: 'default-credentials.yaml',
    username: 'x-access-token',
  },
]

/** The token that goes into the Secret of an example. */
export function tokenOf({ file }: Example): string {
  return `tkn-f0r-${file.replace('.yaml', '')}`
}

/** Who may log in: by the token of an example with the user name of that example alone. */
export function exampleUsers(): readonly GitUser[] {
  const users = EXAMPLES.flatMap((example) => {
    const { username } = example
    return username === undefined ? [] : [{ username, password: tokenOf(example) }]
  })
  return [...users, { username: 'commitlet', password: PASSWORD }]
}

/** The text of a file of examples/authentication. */
export function readExample(file: string): Promise<string> {
  return readFile(join(FOLDER, file), 'utf8')
}

/** The servers of the tests. */
export interface Places {
  readonly namespace: string
  /** `localhost:PORT` of the Git server. */
  readonly host: string
  readonly ssh: SSHServer
  readonly app: ExampleApp
}

/** The GitHub App of the example, and the Apps of the host that knows it. */
export interface ExampleApp {
  readonly privateKey: string
  readonly apps: ModelApps
}

/** An App that is installed at each repository of acme that is added. */
export function exampleApp(): ExampleApp {
  const generated = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
  const privateKey = generated.export({ type: 'pkcs1', format: 'pem' }).toString()
  const apps = memoryApps()
  apps.keys.set('123456', publicHalf(privateKey))
  const permissions = { contents: 'write' } as const
  apps.installations.push({
    id: 81,
    appID: '123456',
    account: 'acme',
    repositories: [],
    permissions,
    suspended: false,
  })
  return { privateKey, apps }
}

/** The text with real servers, repositories and secrets filled in. */
export function filled(text: string, example: Example, { namespace, host, ssh, app }: Places): string {
  const place = `127.0.0.1:${ssh.port}`
  const { privateKey } = example.file === 'github-app.yaml' ? app : ssh.writer
  const key = privateKey.trim().replaceAll('\n', '\n    ')
  const [hostKey = ''] = ssh.hostKeys
  return text
    .replace(
      'https://bitbucket.org/acme/config.git',
      `https://${host}/acme/config.git\n  provider: bitbucket`,
    )
    .replace(
      'https://github.com/acme/config.git',
      `https://${host}/acme/config.git\n  provider: github\n  providerConfig:\n    baseURL: https://${host}/api/v3`,
    )
    .replace('git@github.com:acme/', `ssh://${ssh.user}@${place}/acme/`)
    .replace('git@git.example.com:2222', `${ssh.user}@${place}`)
    .replace(
      '[git.example.com]:2222 ssh-ed25519 replace-with-the-host-key',
      `[127.0.0.1]:${ssh.port} ${hostKey}`,
    )
    .replaceAll('git.example.com', host)
    .replace('/teams/shop/config.git', `/teams/${namespace}/config.git`)
    .replace('/acme/config.git', `/acme/${namespace}.git`)
    .replace('replace-with-your-private-key', key)
    .replace('replace-with-your-password', PASSWORD)
    .replace('replace-with-your-old-token', WRONG)
    .replace('replace-with-your-token', tokenOf(example))
}

const DEVELOPER = { user: 'dev', groups: ['developers'] }
const AS_DEVELOPER = ['--as=dev', '--as-group=developers']

/** A namespace, and who applies texts there. */
export interface StagedNamespace {
  readonly namespace: string
  /** `kubectl apply` of a developer. */
  readonly apply: (text: string) => Promise<Ran>
  /** Applies the text as the administrator. */
  readonly prepare: (text: string) => Promise<void>
}

/** A namespace with the rights of rights.yaml and the ConfigMap that the examples commit. */
export async function stageNamespace(plane: ControlPlane): Promise<StagedNamespace> {
  const namespace = await plane.createNamespace()
  const applier = applierBy(plane.api)
  function apply(input: string): Promise<Ran> {
    const args = ['-n', namespace, 'apply', '-f', '-', ...AS_DEVELOPER]
    return plane.kubectl(args, { input, allowFailure: true })
  }
  async function prepare(text: string): Promise<void> {
    for (const document of parseAllDocuments(text)) {
      const { status, body } = await applier.apply(document.toJS() as object, namespace)
      if (status >= 300) throw new Error(JSON.stringify(body))
    }
  }
  await prepare(await readExample('rights.yaml'))
  const data = { currency: 'EUR' }
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'shop-settings' }, data }
  await prepare(JSON.stringify(object))
  const secret = { verb: 'get', resource: 'secrets', name: 'git-credentials', namespace }
  const creation = { verb: 'create', group: 'commitlet.dev', resource: 'gitcommits', namespace }
  for (const part of ['function', 'webhook'])
    await untilMay(plane, `system:serviceaccount:commitlet-system:commitlet-${part}`, secret)
  for (const right of [secret, creation]) await untilMay(plane, DEVELOPER, right)
  return { namespace, apply, prepare }
}

/** Waits for a right that was just granted. */
async function untilMay(plane: ControlPlane, ...question: Question): Promise<void> {
  const ask = async (): Promise<true | undefined> => (await reviewed(plane, ...question)) || undefined
  await waitFor(`right: ${JSON.stringify(question)}`, ask, 30_000)
}

type Question = Parameters<typeof reviewed> extends [unknown, ...infer Rest] ? Rest : never

/** Waits until the right of an administrator's file holds. */
export async function untilGranted(
  plane: ControlPlane,
  namespace: string,
  { rights }: Example,
): Promise<void> {
  const used =
    rights === 'shared-secret.yaml'
      ? { resource: 'secrets', name: 'shared-git-credentials' }
      : { group: 'commitlet.dev', resource: 'defaultcredentials' }
  await untilMay(plane, DEVELOPER, { verb: 'use', namespace, ...used })
}
