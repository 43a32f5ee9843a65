import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { withControlPlane } from '../harness/control-plane.ts'
import type { Fault, Target } from '../harness/git-faults.ts'
import { startGitServer } from '../harness/git-server.ts'
import { configMap, gitCommit, install } from '../harness/installation.ts'
import type { Stored, Team } from '../harness/installation.ts'
import { listProcesses, processesIn } from '../harness/processes.ts'
import { startRelay } from '../harness/relay.ts'
import { waitFor } from '../harness/wait.ts'
import { call, reviewOf } from '../webhook/stage.ts'

// With characters that look different in JSON, in a URL and in both alphabets of base64.
const TOKEN = 'tkn/~>?Sup3rS3cret=&%"é'
const PASSWORD = 'pa55~>? w0rd-0f-Jane+/='
const WRONG = 'tkn/~>?0f-Yesterday='
const IN_ADDRESS = 'tkn-In-The-Address'
const SECRETS = [TOKEN, PASSWORD, WRONG, IN_ADDRESS]
const TOKEN_USER = 'x-access-token'
const MINUTE = 60_000

/** The secret as it may be shown by whoever was shown it with this user name. */
function spellings(user: string, secret: string): readonly string[] {
  const base64 = Buffer.from(secret).toString('base64')
  const url = encodeURIComponent(secret)
  const form = new URLSearchParams({ '': secret }).toString().slice(1)
  const words = [
    secret,
    base64,
    base64.replace(/=+$/, ''),
    Buffer.from(secret).toString('base64url'),
    Buffer.from(`${user}:${secret}`).toString('base64'),
  ]
  const lower = [url, form].map((word) => word.replace(/%../g, (byte) => byte.toLowerCase()))
  return [...words, url, form, ...lower]
}

const NEEDLES = SECRETS.flatMap((secret) => [
  ...spellings(TOKEN_USER, secret),
  ...spellings('jane', secret),
  // What is left where a secret was cut, or written in a way that nobody has thought of.
  secret.split(/[^\w-]+/).reduce((one, other) => (other.length > one.length ? other : one)),
])

/** The secrets that stand in the text, in whatever spelling. */
function leaksIn(text: string): readonly string[] {
  return NEEDLES.filter((needle) => text.includes(needle))
}

/** What a hook says about the login that the server was shown, in red and with a title for the terminal. */
function gossip(user: string, secret: string): string {
  return `\u001b]0;owned\u0007\u001b[31mI know ${spellings(user, secret).join('\u001b[0m\n')}\n`
}

withControlPlane(
  t,
  async (t, plane) => {
    const folder = t.testdir({})
    const relay = await startRelay()
    t.teardown(() => relay.close())
    const commitlet = await install(t, plane, {
      functionEnv: { TMPDIR: folder, LOG_LEVEL: 'trace', ATTEMPT_DEADLINE: '20' },
      webhookEnv: { K_SINK: relay.url, LOG_LEVEL: 'trace', SWEEP_INTERVAL: '1', SWEEP_FULL_INTERVAL: '2' },
    })
    relay.targets.push(commitlet.function.url)
    const server = await startGitServer({
      authority: commitlet.git.authority,
      users: [{ password: TOKEN }, { username: 'jane', password: PASSWORD }],
    })
    t.teardown(() => server.close())
    const team = await commitlet.createTeam()
    await team.apply(configMap(), ...secrets())

    const BY_PASSWORD = { secretName: 'mine', usernameKey: 'username', passwordKey: 'password' }
    const BY_WRONG_TOKEN = { secretName: 'mine', tokenKey: 'wrong' }
    const cases: readonly {
      readonly name: string
      readonly reason: string
      readonly credentials?: object
      readonly hook?: string
      readonly fault?: Fault
      readonly at?: Target
    }[] = [
      { name: 'token', reason: 'Succeeded' },
      { name: 'password', reason: 'Succeeded', credentials: BY_PASSWORD },
      { name: 'chatty', reason: 'Succeeded', hook: 'cat said >&2' },
      { name: 'rejected', reason: 'PushRejected', hook: 'cat said >&2; exit 1' },
      {
        name: 'rejected-by-password',
        reason: 'PushRejected',
        hook: 'cat said >&2; exit 1',
        credentials: BY_PASSWORD,
      },
      { name: 'wrong', reason: 'AuthenticationFailed', credentials: BY_WRONG_TOKEN },
      {
        name: 'several-lines',
        reason: 'CredentialsInvalid',
        credentials: { secretName: 'mine', tokenKey: 'lines' },
      },
      {
        name: 'missing-key',
        reason: 'CredentialsInvalid',
        credentials: { secretName: 'mine', tokenKey: 'none' },
      },
      {
        name: 'other-type',
        reason: 'CredentialsInvalid',
        credentials: { secretName: 'other', tokenKey: 'token' },
      },
      {
        name: 'not-allowed',
        reason: 'ReferenceForbidden',
        credentials: { secretName: 'bound', tokenKey: 'token' },
      },
      ...([401, 403, 404, 500, 503] as const).map((status) => ({
        name: `echo-${status}`,
        reason: REASONS[status],
        fault: { kind: 'echo', status } as const,
      })),
      {
        name: 'echo-push',
        reason: 'ProviderUnavailable',
        fault: { kind: 'echo', status: 500 },
        at: { exchange: 'receive-pack' },
      },
      { name: 'cut', reason: 'NetworkError', fault: { kind: 'cut' }, at: { exchange: 'upload-pack' } },
      { name: 'drop', reason: 'NetworkError', fault: { kind: 'drop' }, at: { exchange: 'receive-pack' } },
      { name: 'page', reason: 'RepositoryNotFound', fault: { kind: 'page' } },
      { name: 'hang', reason: 'Timeout', fault: { kind: 'hang' }, at: { exchange: 'receive-pack' } },
    ]

    t.test('while a push hangs, no argument and no file holds a secret', async (t) => {
      await begin('hang')
      await waitFor(
        'push that hangs',
        () =>
          server.requests.find(({ exchange, status }) => exchange === 'receive-pack' && status === undefined),
        MINUTE,
      )
      const commands = (await listProcesses()).map(({ command }) => command).join('\n')
      t.match(commands, /git push .*hang\.git/)
      t.strictSame(leaksIn(commands), [])
      const files = await contentsBelow(folder)
      t.match(files, /\[core\]/, 'the files of the workspace are seen')
      t.strictSame(leaksIn(files), [])
      const [git] = (await processesIn(folder)).filter(({ command }) => command.startsWith('git push'))
      const environment = await readFile(`/proc/${git?.pid}/environ`, 'utf8')
      t.ok(leaksIn(environment).length > 0, 'a secret that is there is found')
    })

    for (const { name, reason } of cases) {
      t.test(`${name} ends with ${reason}, and without a secret in its status`, async (t) => {
        if (name !== 'hang') await begin(name)
        await team.kubectl(['wait', 'gitcommit', name, `--for=jsonpath=${REASON}=${reason}`, '--timeout=60s'])
        const { stdout } = await team.kubectl(['get', 'gitcommit', name, '-o', 'yaml'])
        t.strictSame(leaksIn(stdout), [])
        t.notMatch(stdout, /\u001b|\\e\[|u001b/)
        if (reason === 'PushRejected')
          t.match(stdout, /says\s+"I\s+know\s+\*\*\*/, 'what the hook said is quoted')
      })
    }

    t.test('an address with a token in it is refused without repeating it', async (t) => {
      const address = `https://jane:${IN_ADDRESS}@localhost:${server.port}/acme/config.git`
      const input = JSON.stringify(gitCommit('in-address', address))
      const { stderr, code } = await team.kubectl(['create', '-f', '-'], { input, allowFailure: true })
      t.equal(code, 1)
      t.match(stderr, 'spec.repository')
      t.strictSame(leaksIn(stderr), [])
    })

    t.test('nothing that both parts wrote, answered or stored holds a secret', async (t) => {
      const spoken: Record<string, string> = {
        'log of the function': commitlet.function.lines.join('\n'),
        'log of the webhook': commitlet.webhook.lines.join('\n'),
        'answers of the function': JSON.stringify(relay.answers),
        'answers of the webhook': await reviews(team, {
          port: commitlet.webhook.port,
          ca: server.authority.certPEM,
        }),
        resources: (await team.kubectl(['get', 'gitcommits', '-o', 'json'])).stdout,
        events: (await team.kubectl(['get', 'events.events.k8s.io', '-o', 'json'])).stdout,
        descriptions: (await team.kubectl(['describe', 'gitcommits'])).stdout,
        files: await contentsBelow(folder),
      }
      for (const [where, text] of Object.entries(spoken)) {
        t.ok(text.length > 100, `${where}: there is something to look at`)
        t.strictSame(leaksIn(text), [], where)
        t.notMatch(text, /\u001b|u001b/, where)
      }
      const { stdout } = await team.kubectl(['get', 'secret', 'mine', '-o', 'json'])
      t.ok(leaksIn(stdout).length > 0, 'a secret that is there is found')
    })

    t.test('at its end the function leaves no file', async (t) => {
      t.equal(await commitlet.function.stop(MINUTE), 0)
      t.strictSame(await readdir(folder), [])
    })

    async function begin(name: string): Promise<void> {
      const found = cases.find((candidate) => candidate.name === name)
      const repository = await server.createRepository(`acme/${name}`, {
        hooks: found?.hook === undefined ? {} : { 'pre-receive': found.hook },
      })
      const said = found?.credentials === BY_PASSWORD ? gossip('jane', PASSWORD) : gossip(TOKEN_USER, TOKEN)
      await writeFile(join(repository.path, 'said'), said)
      if (found?.fault !== undefined)
        server.faults.add(found.fault, { repository: repository.name, ...found.at })
      const credentials = found?.credentials ?? { secretName: 'mine', tokenKey: 'token' }
      await team.apply(gitCommit(name, repository.url, { credentials }))
    }
  },
  { own: true },
)

const REASON = '{.status.conditions[?(@.type=="Ready")].reason}'

const REASONS = {
  401: 'AuthenticationFailed',
  403: 'PermissionDenied',
  404: 'RepositoryNotFound',
  500: 'ProviderUnavailable',
  503: 'ProviderUnavailable',
} as const

function secrets(): readonly object[] {
  const mine = {
    token: `${TOKEN}\n`,
    wrong: WRONG,
    lines: `${TOKEN}\n${WRONG}\n`,
    username: 'jane',
    password: PASSWORD,
  }
  const secret = (name: string, more: object) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name },
    ...more,
  })
  const annotations = { 'commitlet.dev/allowed-repositories': 'git.example.com/acme' }
  return [
    secret('mine', { stringData: mine }),
    secret('other', { type: 'example.com/other', stringData: { token: TOKEN } }),
    { ...secret('bound', { stringData: { token: TOKEN } }), metadata: { name: 'bound', annotations } },
  ]
}

/** Answers of the webhook to reviews of every resource of the team. */
async function reviews(team: Team, webhook: Parameters<typeof call>[0]): Promise<string> {
  const { stdout } = await team.kubectl(['get', 'gitcommits', '-o', 'json'])
  const { items } = JSON.parse(stdout) as { readonly items: readonly Stored[] }
  const target = { ...webhook, servername: 'localhost' }
  const answers = items.flatMap((item) =>
    ['/mutate', '/validate'].map((path) => call(target, path, JSON.stringify(reviewOf(item)))),
  )
  return JSON.stringify(await Promise.all(answers))
}

/** The content of every file below the folder; what vanishes meanwhile is left out. */
async function contentsBelow(folder: string): Promise<string> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
  const contents = await Promise.all(files.map((file) => readFile(file, 'latin1').catch(() => '')))
  return contents.join('\n')
}
