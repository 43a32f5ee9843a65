import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Test } from 'tap'
import type { GitEngine } from '../../functions/config.ts'
import { makeAuthority } from '../harness/certificates.ts'
import type { GitServer } from '../harness/git-server.ts'
import { TOKEN } from '../harness/installation.ts'
import type { Team } from '../harness/installation.ts'
import { freePort } from '../harness/wait.ts'
import type { Scene } from './failure-stage.ts'
import { stageFailures } from './failure-stage.ts'

const PATH = 'shop/settings.yaml'

/** One way to fail, and what the user reads. */
export interface FailureCase {
  readonly title: string
  readonly arrange: (team: Team) => Promise<Scene>
  readonly reason: string
  readonly phase: 'Retrying' | 'Failed'
  /** kstatus reads True as failed, although a slow failure is retried. */
  readonly condition: 'Reconciling' | 'Stalled'
  /** The whole message, after the repository's address where it begins with ` `. */
  readonly says: string
  /** The least time that the remote asked to wait, in seconds. */
  readonly waits?: number
}

const SLOW = { phase: 'Retrying', condition: 'Stalled' } as const
const TRANSIENT = { phase: 'Retrying', condition: 'Reconciling' } as const
const FINAL = { phase: 'Failed', condition: 'Stalled' } as const

/**
 * What an engine meets and says in a way of its own: its first requests for a fetch and for a push, and a connection
 * that breaks.
 */
const OF_ENGINE = {
  direct: {
    fetch: 'upload-pack',
    push: 'receive-pack',
    cut: ' closed the connection in the middle of the exchange; Commitlet retries automatically.',
  },
  binary: {
    fetch: 'upload-pack-refs',
    push: 'receive-pack-refs',
    cut: ' broke off the TLS connection; Commitlet retries automatically.',
  },
} as const

/** What fails most, on this server of an installation and on others that it starts. */
export function failureCases(t: Test, git: GitServer, engine: GitEngine): readonly FailureCase[] {
  const { fetch, push, cut } = OF_ENGINE[engine]
  const { broken, faulty, serveAt } = stageFailures(t, git)
  return [
    {
      title: 'a wrong token',
      async arrange(team) {
        const name = `${team.namespace}/config`
        const secret = (token: string) => ({
          apiVersion: 'v1',
          kind: 'Secret',
          metadata: { name: 'mine' },
          stringData: { token },
        })
        await team.apply(secret('tkn-of-yesterday'))
        const repository = await git.createRepository(name)
        const credentials = { secretName: 'mine', tokenKey: 'token' }
        return { repository: repository.url, credentials, fix: () => team.apply(secret(TOKEN)) }
      },
      reason: 'AuthenticationFailed',
      ...SLOW,
      says: ' does not accept the user name and token or password (401); put valid ones into the Secret.',
    },
    {
      title: 'a token that may only read',
      async arrange(team) {
        const repository = await git.createRepository(`${team.namespace}/config`)
        const may = (right: 'read' | 'write') => git.setRight({ password: TOKEN }, repository.name, right)
        may('read')
        return { repository: repository.url, fix: async () => may('write') }
      },
      reason: 'PermissionDenied',
      ...SLOW,
      says: ' knows the user but does not permit this (403); give the token write access, and check whether the repository is archived.',
    },
    {
      title: 'an unknown repository',
      async arrange(team) {
        const name = `${team.namespace}/config`
        return { repository: `${git.url}/${name}.git`, fix: () => git.createRepository(name) }
      },
      reason: 'RepositoryNotFound',
      ...SLOW,
      says: ' does not exist, or is not visible with these credentials (hosts give the same answer for both); check the address and the rights of the token.',
    },
    {
      title: 'a protected branch',
      arrange: (team) =>
        broken(
          team,
          { hooks: { 'pre-receive': 'echo "main is protected: open a pull request" >&2\nexit 1' } },
          (r) => rm(join(r.path, 'hooks/pre-receive')),
        ),
      reason: 'PushRejected',
      ...FINAL,
      says: ' refuses the commit and reports "main is protected: open a pull request"; use another branch or path, or ask a maintainer of the repository.',
    },
    {
      title: 'a file where a directory is needed',
      arrange: (team) =>
        broken(team, { files: { shop: 'a file\n' } }, (r) => r.commit('main', { 'shop/other': 'x\n' })),
      reason: 'PathConflict',
      ...SLOW,
      says: clash('"shop" is a file'),
    },
    {
      title: 'a symbolic link in the way',
      arrange: (team) =>
        broken(team, { files: { shop: { mode: '120000', content: '/etc' } } }, (r) =>
          r.commit('main', { 'shop/other': 'x\n' }),
        ),
      reason: 'PathConflict',
      ...SLOW,
      says: clash('"shop" is a symbolic link'),
    },
    {
      title: 'a directory at the path',
      arrange: (team) =>
        broken(team, { files: { [`${PATH}/inner`]: 'x\n' } }, (r) => r.commit('main', { [PATH]: 'x\n' })),
      reason: 'PathConflict',
      ...SLOW,
      says: clash('it is a directory'),
    },
    {
      title: 'an unreachable host',
      async arrange() {
        const port = await freePort()
        return { repository: `https://localhost:${port}/acme/config.git`, fix: () => serveAt(port) }
      },
      reason: 'NetworkError',
      ...TRANSIENT,
      says: ' cannot be reached: nothing accepts the connection at that host and port; Commitlet retries automatically, but check the address.',
    },
    {
      title: 'a host that DNS does not know',
      async arrange(team) {
        const { url } = await git.createRepository(`${team.namespace}/config`)
        const patch = JSON.stringify({ spec: { repository: url } })
        return {
          repository: 'https://git.example.invalid/acme/config.git',
          fix: () => team.kubectl(['patch', 'gitcommit', 'shop', '--type=merge', '-p', patch]),
        }
      },
      reason: 'NetworkError',
      ...TRANSIENT,
      says: 'git.example.invalid cannot be reached: its host name is not known to DNS; check the spelling, or ask your Commitlet operator.',
    },
    {
      title: 'a certificate of another authority',
      async arrange() {
        const port = await freePort()
        const { url, close } = await serveAt(port, await makeAuthority('Somebody else'))
        return { repository: url, fix: () => close().then(() => serveAt(port)) }
      },
      reason: 'TLSUntrusted',
      ...SLOW,
      says: ' shows a certificate that no trusted authority has signed; the operator adds its authority to CA_FILE, or the server has to send the intermediate certificates as well.',
    },
    {
      title: 'a server that hangs',
      arrange: (team) => faulty(team, { kind: 'hang' }, 'upload-pack'),
      reason: 'Timeout',
      ...TRANSIENT,
      says: `The time for one attempt was over before URL had accepted the commit; Commitlet retries automatically.`,
    },
    {
      title: 'a server that cuts in the middle',
      arrange: (team) => faulty(team, { kind: 'cut' }, 'upload-pack'),
      reason: 'NetworkError',
      ...TRANSIENT,
      says: cut,
    },
    {
      title: 'a server that breaks the push off',
      arrange: (team) => faulty(team, { kind: 'drop' }, 'receive-pack'),
      reason: 'NetworkError',
      ...TRANSIENT,
      says: cut,
    },
    {
      title: 'a server that answers 503 and asks for ten minutes',
      arrange: (team) =>
        faulty(team, { kind: 'status', status: 503, headers: { 'retry-after': '600' } }, fetch),
      reason: 'ProviderUnavailable',
      ...TRANSIENT,
      says: ' cannot answer at the moment (503); Commitlet retries automatically.',
      waits: 600,
    },
    {
      title: 'a server that answers 429 and asks for five minutes',
      arrange: (team) =>
        faulty(team, { kind: 'status', status: 429, headers: { 'retry-after': '300' } }, push),
      reason: 'RateLimited',
      ...TRANSIENT,
      says: ' asks for fewer requests; Commitlet retries later.',
      waits: 300,
    },
  ]
}

function clash(what: string): string {
  return `The path "${PATH}" cannot be written in URL, because ${what} there; choose another path, or remove what is in the way.`
}
