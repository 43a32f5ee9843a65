import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { makeAuthority } from '../harness/certificates.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import type { Fault } from '../harness/git-faults.ts'
import type { Exchange } from '../harness/git-exchange.ts'
import { startGitServer } from '../harness/git-server.ts'
import type { GitRepository, RepositoryOptions } from '../harness/git-repository.ts'
import { configMap, gitCommit, install, TOKEN } from '../harness/installation.ts'
import type { Team } from '../harness/installation.ts'
import { processesIn } from '../harness/processes.ts'
import { freePort, waitFor } from '../harness/wait.ts'

const ATTEMPT_DEADLINE = 10
const PATH = 'shop/settings.yaml'

/** What a user meets. */
interface Scene {
  readonly repository: string
  readonly credentials?: object
  /** What the user, or whoever runs the server, does then. */
  readonly mend: () => Promise<unknown>
}

interface Case {
  readonly title: string
  readonly arrange: (team: Team) => Promise<Scene>
  readonly reason: string
  readonly phase: 'Retrying' | 'Failed'
  /** kstatus: True reads as failed, although a slow failure is tried again. */
  readonly stalled: 'True' | 'False'
  /** The whole message, after the repository's address where it begins with ` `. */
  readonly says: string
  /** The least that the remote asked to wait, in seconds. */
  readonly waits?: number
}

const SLOW = { phase: 'Retrying', stalled: 'True' } as const
const TRANSIENT = { phase: 'Retrying', stalled: 'False' } as const
const FINAL = { phase: 'Failed', stalled: 'True' } as const

withControlPlane(
  t,
  async (t, plane) => {
    const folder = t.testdir({})
    // Without sweeps: what is tried again is tried because the user asked.
    const commitlet = await install(t, plane, {
      functionEnv: { TMPDIR: folder, ATTEMPT_DEADLINE: String(ATTEMPT_DEADLINE) },
      webhookEnv: { SWEEP_INTERVAL: '0', SWEEP_FULL_INTERVAL: '0' },
    })
    const { git } = commitlet

    /** A repository of the team, and what mends it. */
    async function broken(
      team: Team,
      options: RepositoryOptions,
      mend: (repository: GitRepository) => Promise<unknown>,
    ): Promise<Scene> {
      const repository = await git.createRepository(`${team.namespace}/config`, options)
      return { repository: repository.url, mend: () => mend(repository) }
    }

    /** A repository whose server does this. */
    async function faulty(team: Team, fault: Fault, exchange: Exchange): Promise<Scene> {
      const repository = await git.createRepository(`${team.namespace}/config`)
      const unstrike = git.faults.add(fault, { repository: repository.name, exchange })
      return { repository: repository.url, mend: async () => unstrike() }
    }

    /** A server at a port of its own, whose certificate this authority signs. */
    async function serveAt(port: number, authority = git.authority) {
      const server = await startGitServer({ port, authority, users: [{ password: TOKEN }] })
      t.teardown(() => server.close())
      const { url } = await server.createRepository('acme/config')
      return { url, close: () => server.close() }
    }

    const CASES: readonly Case[] = [
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
          return { repository: repository.url, credentials, mend: () => team.apply(secret(TOKEN)) }
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
          return { repository: repository.url, mend: async () => may('write') }
        },
        reason: 'PermissionDenied',
        ...SLOW,
        says: ' knows the user but does not permit this (403); give the token the right to write there, and see whether the repository is archived.',
      },
      {
        title: 'an unknown repository',
        async arrange(team) {
          const name = `${team.namespace}/config`
          return { repository: `${git.url}/${name}.git`, mend: () => git.createRepository(name) }
        },
        reason: 'RepositoryNotFound',
        ...SLOW,
        says: ' is not there, or not visible with these credentials, as hosts answer both alike; look at the address and at the rights of the token.',
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
        says: ' refuses the commit and says "main is protected: open a pull request"; use another branch or path, or ask whoever looks after the repository.',
      },
      {
        title: 'a file where a directory is needed',
        arrange: (team) =>
          broken(team, { files: { shop: 'a file\n' } }, (r) => r.commit('main', { 'shop/other': 'x\n' })),
        reason: 'PathConflict',
        ...FINAL,
        says: clash('"shop" is a file'),
      },
      {
        title: 'a symbolic link in the way',
        arrange: (team) =>
          broken(team, { files: { shop: { mode: '120000', content: '/etc' } } }, (r) =>
            r.commit('main', { 'shop/other': 'x\n' }),
          ),
        reason: 'PathConflict',
        ...FINAL,
        says: clash('"shop" is a symbolic link'),
      },
      {
        title: 'a directory at the path',
        arrange: (team) =>
          broken(team, { files: { [`${PATH}/inner`]: 'x\n' } }, (r) => r.commit('main', { [PATH]: 'x\n' })),
        reason: 'PathConflict',
        ...FINAL,
        says: clash('it is a directory'),
      },
      {
        title: 'an unreachable host',
        async arrange() {
          const port = await freePort()
          return { repository: `https://localhost:${port}/acme/config.git`, mend: () => serveAt(port) }
        },
        reason: 'NetworkError',
        ...TRANSIENT,
        says: ' cannot be reached: nothing takes the connection at that host and port; look at the address, it is tried again.',
      },
      {
        title: 'a host that DNS does not know',
        async arrange(team) {
          const { url } = await git.createRepository(`${team.namespace}/config`)
          const patch = JSON.stringify({ spec: { repository: url } })
          return {
            repository: 'https://git.example.invalid/acme/config.git',
            mend: () => team.kubectl(['patch', 'gitcommit', 'shop', '--type=merge', '-p', patch]),
          }
        },
        reason: 'NetworkError',
        ...TRANSIENT,
        says: ' cannot be reached: its host name is not known to DNS; look for a typing error, or ask the operator.',
      },
      {
        title: 'a certificate of another authority',
        async arrange() {
          const port = await freePort()
          const { url, close } = await serveAt(port, await makeAuthority('Somebody else'))
          return { repository: url, mend: () => close().then(() => serveAt(port)) }
        },
        reason: 'TLSUntrusted',
        ...FINAL,
        says: ' shows a certificate that has expired or that no trusted authority has signed; have it renewed, or the operator adds its authority to CA_FILE.',
      },
      {
        title: 'a server that hangs',
        arrange: (team) => faulty(team, { kind: 'hang' }, 'upload-pack'),
        reason: 'Timeout',
        ...TRANSIENT,
        says: `The time for one attempt was over before URL had taken the commit; it is tried again.`,
      },
      {
        title: 'a server that cuts in the middle',
        arrange: (team) => faulty(team, { kind: 'cut' }, 'upload-pack'),
        reason: 'NetworkError',
        ...TRANSIENT,
        says: ' broke the TLS connection off; it is tried again.',
      },
      {
        title: 'a server that breaks the push off',
        arrange: (team) => faulty(team, { kind: 'drop' }, 'receive-pack'),
        reason: 'NetworkError',
        ...TRANSIENT,
        says: ' broke the TLS connection off; it is tried again.',
      },
      {
        title: 'a server that answers 503 and asks for ten minutes',
        arrange: (team) =>
          faulty(
            team,
            { kind: 'status', status: 503, headers: { 'retry-after': '600' } },
            'upload-pack-refs',
          ),
        reason: 'ProviderUnavailable',
        ...TRANSIENT,
        says: ' cannot answer at the moment (503); it is tried again.',
        waits: 600,
      },
      {
        title: 'a server that answers 429 and asks for five minutes',
        arrange: (team) =>
          faulty(
            team,
            { kind: 'status', status: 429, headers: { 'retry-after': '300' } },
            'receive-pack-refs',
          ),
        reason: 'RateLimited',
        ...TRANSIENT,
        says: ' asks for fewer requests; it is tried again later.',
        waits: 300,
      },
    ]

    for (const { title, arrange, reason, phase, stalled, says, waits } of CASES) {
      t.test(`${title} reads ${reason}, and once mended and requested it succeeds`, async (t) => {
        const team = await commitlet.createTeam()
        const { repository, credentials, mend } = await arrange(team)
        await team.apply(
          configMap(),
          gitCommit('shop', repository, credentials === undefined ? {} : { credentials }),
        )
        await team.waitFor('shop', `jsonpath={.status.phase}=${phase}`, '60s')
        const { stdout } = await team.kubectl(['get', 'gitcommit', 'shop', '-o', 'wide'])
        const sentence = says.startsWith(' ') ? repository + says : says.replace('URL', repository)
        t.match(columns(stdout), { NAME: 'shop', READY: 'False', REASON: reason, MESSAGE: sentence })
        const { status } = await team.get('shop')
        t.match(status, {
          phase,
          attempts: 1,
          conditions: [{ type: 'Ready' }, { type: 'Reconciling' }, { type: 'Stalled', status: stalled }],
        })
        const wait = seconds(status['nextAttemptTime']) - seconds(status['lastAttemptTime'])
        if (phase === 'Failed') t.notOk(status['nextAttemptTime'], 'it is not tried again')
        else t.ok(wait >= (waits ?? 1), `tried again after ${wait} s`)
        await waitFor('end of every git process', () => nothingIn(folder), 10_000)

        await mend()
        await team.kubectl(['annotate', 'gitcommit', 'shop', 'commitlet.dev/requested-at=now'])
        await team.waitFor('shop', 'jsonpath={.status.lastHandledRequestedAt}=now', '60s')
        await team.waitFor('shop', 'jsonpath={.status.phase}=Succeeded', '60s')
        t.match((await team.get('shop')).status, { attempts: 1 })
      })
    }

    t.test('an answer to the push that is lost is no failure: the commit is there once', async (t) => {
      for (const kind of ['lost', 'cut'] as const) {
        const team = await commitlet.createTeam()
        const repository = await git.createRepository(`${team.namespace}/${kind}`)
        git.faults.add({ kind }, { repository: repository.name, exchange: 'receive-pack', times: 1 })
        await team.apply(configMap(), gitCommit('shop', repository.url))
        await team.waitFor('shop', 'condition=Ready', '60s')
        t.match((await team.get('shop')).status, {
          attempts: 1,
          commit: { sha: await repository.git('rev-parse', 'main') },
        })
        t.strictSame(await repository.log('main'), ['Record the shop settings', 'Begin'])
      }
    })
  },
  { own: true },
)

function clash(what: string): string {
  return `The path "${PATH}" cannot be written in URL, because ${what} there; choose another path, or remove what is in the way.`
}

/** The one row of a table of kubectl, by the heads of its columns. */
function columns(table: string): Readonly<Record<string, string>> {
  const [head = '', row = ''] = table.split('\n')
  const names = [...head.matchAll(/\S+(?: \S+)*/g)]
  const cells = names.map(([name], i) => [name, row.slice(names[i]?.index, names[i + 1]?.index).trim()])
  return Object.fromEntries(cells) as Readonly<Record<string, string>>
}

function seconds(time: unknown): number {
  return Date.parse(String(time)) / 1000
}

async function nothingIn(folder: string): Promise<true | undefined> {
  return (await processesIn(folder)).length === 0 ? true : undefined
}
