import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { chmod, readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { getPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { rootCertificates } from 'node:tls'
import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import {
  loginLine,
  offlineEnvironment,
  onlineEnvironment,
  proxyLine,
} from '../../../functions/git/process/environment.ts'
import {
  BROKEN_PIPE,
  launch,
  RAN_OUT,
  type Call,
  type Ended,
} from '../../../functions/git/process/launcher.ts'
import { launcherScript } from '../../../functions/git/process/launcher-script.ts'
import { processesWith } from '../../harness/processes.ts'
import { addressOf, inWorkspace, loginOf, outcomeOf, patience, REACHED, until } from '../stage.ts'
import { drawnTests } from '../../harness/drawn-test.ts'

const drawn = drawnTests(t, 3)

// Reads the first bytes of the handshake and stays silent.
let greetings = 0
const silent = createServer((socket) => socket.on('data', () => greetings++).on('error', () => undefined))
await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
const { port } = silent.address() as AddressInfo
const url = `https://localhost:${port}/acme/shop.git`
t.teardown(() => silent.close())
const authorities = join(t.testdir({ 'ca.pem': rootCertificates[0] ?? '' }), 'ca.pem')

interface Wanted {
  readonly deadlineSeconds?: number
  readonly memoryMiB?: number
  readonly cpuSeconds?: number
  readonly fileMiB?: number
  readonly input?: Uint8Array
}

function callOf(folder: string, args: readonly string[], wanted: Wanted = {}): Call {
  const { deadlineSeconds = 30, memoryMiB = 512, cpuSeconds = 30, fileMiB, input } = wanted
  const bounds = { deadlineSeconds, memoryMiB, cpuSeconds, fileMiB }
  const place = { folder, path: process.env['PATH'] ?? '', bounds }
  const remote = { ...REACHED, address: addressOf(url), authorities }
  const offline = args[0] !== 'ls-remote'
  const environment = offline ? offlineEnvironment(place) : onlineEnvironment(place, remote)
  const login = loginLine(loginOf('secret-4711')) + proxyLine(undefined)
  return { args, folder, environment, input: offline ? (input ?? '') : login }
}

async function run(args: readonly string[], wanted?: Wanted): Promise<Ended> {
  return inWorkspace(tmpdir(), ({ folder }) => launch(callOf(folder, args, wanted), patience()))
}

/** For a program of its own. */
const LAUNCHER = JSON.stringify(new URL('../../../functions/git/process/launcher.ts', import.meta.url).href)
const ASK = ['ls-remote', '--', url]

t.test('both streams and the exit code are returned, whatever it is', async (t) => {
  const good = await run(['rev-parse', '--is-bare-repository'])
  t.match(good, { exitCode: 0, stdout: 'true\n', stderr: '\n' })
  const bad = await run(['rev-parse', '--verify', 'nothing'])
  t.match(bad, { exitCode: 128, stderr: /fatal: Needed a single revision/ })
})

drawn('input reaches git byte for byte', async (t) => {
  const ended = await run(['hash-object', '--stdin'], { input: Buffer.from([0, 255, 10]) })
  t.equal(ended.stdout, '506cd141ad4a679eee22d6a21dd267cca5734b92\n')
})

drawn('a silent server is given up at the deadline, and no process is left', async (t) => {
  await inWorkspace(tmpdir(), async ({ folder }) => {
    const ended = await launch(callOf(folder, ASK, { deadlineSeconds: 1 }), patience())
    t.equal(ended.exitCode, undefined)
    t.ok(ended.seconds >= 1 && ended.seconds < 10, 'close to the deadline')
    t.same(await processesWith(folder), [])
  })
})

drawn('an abort ends git and its children while a server is silent', async (t) => {
  await inWorkspace(tmpdir(), async ({ folder }) => {
    const before = greetings
    const abort = new AbortController()
    const work = launch(callOf(folder, ASK), abort.signal)
    await until('the greeting', () => Promise.resolve(greetings > before))
    t.notMatch((await processesWith(folder)).join('\n'), /secret-4711|Basic/, 'no secret in a command line')
    const [line = ''] = (await processesWith(loginLine(loginOf('secret-4711')).trim())).slice(-1)
    t.match(line, 'git', 'the header is in the environment of git')
    abort.abort()
    await t.rejects(
      work,
      new Failure(
        'Timeout',
        'The attempt ran out of time before the remote answered; Commitlet retries automatically.',
      ),
    )
    t.same(await processesWith(folder), [])
  })
})

/** As the real one where the signal comes while it begins its command: it is gone, and the command goes on. */
const TIMEOUT = `#!/bin/sh
shift 5
exec setsid sh -c 'trap "exit 130" INT; "$@" <&0 & wait' timeout "$@"
`

drawn('an abort ends git also where it has only ended what watches over it', async (t) => {
  const programs = t.testdir({ timeout: TIMEOUT })
  await chmod(join(programs, 'timeout'), 0o700)
  await inWorkspace(tmpdir(), async ({ folder }) => {
    const before = greetings
    const abort = new AbortController()
    const call = callOf(folder, ASK)
    const path = `${programs}:${process.env['PATH'] ?? ''}`
    const work = launch({ ...call, environment: { ...call.environment, PATH: path } }, abort.signal)
    await until('the greeting', () => Promise.resolve(greetings > before))
    abort.abort()
    t.match(await outcomeOf(work), { reason: 'Timeout' })
    t.same(await processesWith(folder), [])
  })
})

drawn('an abort with a Failure as its reason throws that one, also before the start', async (t) => {
  const reason = new Failure('Conflict', 'Because.')
  await inWorkspace(tmpdir(), async ({ folder }) => {
    await t.rejects(launch(callOf(folder, ASK), AbortSignal.abort(reason)), reason)
  })
})

drawn('git and its children end when their parent is killed', async (t) => {
  await inWorkspace(tmpdir(), async ({ folder }) => {
    const source = `import { launch } from ${LAUNCHER}
      await launch(${JSON.stringify(callOf(folder, ASK))}, AbortSignal.timeout(30_000))`
    const before = greetings
    // With DEBUG simple-git prints what it passes on.
    const parent = spawn(process.execPath, ['--input-type=module-typescript', '-e', source], {
      stdio: ['ignore', 'ignore', 'pipe'],
      env: { ...process.env, DEBUG: '*' },
    })
    const told = text(parent.stderr)
    await until('the greeting', () => Promise.resolve(greetings > before))
    parent.kill('SIGKILL')
    await until('the end of all', async () => (await processesWith(folder)).length === 0)
    t.match(await told, 'GIT_CONFIG_KEY_0')
    t.notMatch(await told, /secret-4711|Basic/)
  })
})

drawn('without a file descriptor left a git fails, and the process goes on', async (t) => {
  await inWorkspace(tmpdir(), async ({ folder }) => {
    const call = JSON.stringify(callOf(folder, ['rev-parse', '--is-bare-repository']))
    const source = `import { closeSync, openSync } from 'node:fs'
      import { launch } from ${LAUNCHER}
      const held = []
      try { for (;;) held.push(openSync('/dev/null')) } catch {}
      const first = await launch(${call}, AbortSignal.timeout(30_000)).catch(() => 'failed')
      held.forEach((descriptor) => closeSync(descriptor))
      const { exitCode } = await launch(${call}, AbortSignal.timeout(30_000))
      process.stdout.write(\`\${first}, \${exitCode}\`)`
    const node = [process.execPath, '--input-type=module-typescript', '-e', source]
    const child = spawn('sh', ['-c', 'ulimit -n 128; exec "$0" "$@"', ...node], {
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    t.equal(await text(child.stdout), 'failed, 0')
  })
})

drawn('a process that takes too much memory ends', async (t) => {
  const input = Buffer.alloc(64 * 1024 * 1024)
  const ended = await run(['hash-object', '--stdin', '-w'], { memoryMiB: 32, input })
  t.match(ended, { exitCode: 128, stderr: /[Oo]ut of memory|mmap failed/ })
})

drawn('a file that grows too large ends the process that writes it', async (t) => {
  const size = 4 * 1024 * 1024
  const input = Buffer.concat([
    Buffer.from(`blob\ndata ${size}\n`),
    randomBytes(size),
    Buffer.from('\ndone\n'),
  ])
  const ended = await run(['fast-import', '--done', '--quiet'], { fileMiB: 1, input })
  t.match(ended, { exitCode: 128, stderr: /File too large/ }, 'and it can say why')
  t.equal((await run(['fast-import', '--done', '--quiet'], { input })).exitCode, 0)
})

drawn('endless output is not kept', async (t) => {
  await inWorkspace(tmpdir(), async ({ folder }) => {
    const call = callOf(folder, ['show-ref', '--exclude-existing'], {
      input: Buffer.from(`refs/heads/${'0123456789'.repeat(9)}\n`.repeat(300_000)),
    })
    await t.rejects(launch(call, patience()), {
      reason: 'NotSupported',
      // Whoever may push may have written what is printed.
      retry: 'slow',
      message: /more than 16 MiB/,
    })
    t.same(await processesWith(folder), [])
  })
})

/** Runs a script in the place of git. `oomGroup` says whether the kernel ends all of the container at once. */
async function runScript(script: string, wanted?: Wanted, oomGroup = '/nonexistent'): Promise<Ended> {
  return inWorkspace(tmpdir(), async ({ folder }) => {
    await writeFile(join(folder, 'launch'), launcherScript(oomGroup))
    await writeFile(join(folder, 'git'), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
    const call = callOf(folder, ['version'], wanted)
    const environment = { ...call.environment, PATH: `${folder}:${process.env['PATH'] ?? ''}` }
    return launch({ ...call, environment }, patience())
  })
}

drawn(
  'git yields to what else runs, leaves no core dump, and is the first to be killed for memory',
  async (t) => {
    const { stdout } = await runScript('ulimit -c; nice; cat /proc/self/oom_score_adj')
    t.equal(stdout, `0\n${Math.min(19, getPriority() + 10)}\n1000\n`)
  },
)

drawn(
  'where all of the container ends with it, git is no more the first to be killed than that',
  async (t) => {
    const own = await readFile('/proc/self/oom_score_adj', 'utf8')
    const folder = t.testdir({ all: '1\n', one: '0\n' })
    const score = async (file: string): Promise<string> =>
      (await runScript('cat /proc/self/oom_score_adj', {}, join(folder, file))).stdout
    // In a pod without requests it is 1000 as well.
    t.equal(await score('all'), own)
    t.equal(await score('one'), '1000\n')
  },
)

drawn('a git that takes too much of the processor ends', async (t) => {
  const ended = await runScript('while :; do :; done', { cpuSeconds: 1 })
  t.match(ended, { exitCode: RAN_OUT, stdout: '' })
})

drawn('a git that a signal ends has no exit code', async (t) => {
  for (const signal of ['KILL', 'SEGV', 'TERM'])
    t.match(await runScript(`echo out; kill -${signal} $$`), { exitCode: undefined, stdout: 'out\n' })
  t.match(await runScript('kill -PIPE $$'), { exitCode: BROKEN_PIPE }, 'its connection has ended')
})

drawn('of a flood of messages both ends are kept', async (t) => {
  const flood = "yes 'remote: many words' | head -c 12000000 >&2"
  const git = `#!/bin/sh\necho 'remote: first' >&2\n${flood}\nprintf '\\nfatal: gone\\n' >&2\necho out\nexit 128\n`
  const dir = t.testdir({ git })
  await chmod(join(dir, 'git'), 0o755)
  await inWorkspace(tmpdir(), async ({ folder }) => {
    const call = callOf(folder, ['version'])
    const environment = { ...call.environment, PATH: `${dir}:${process.env['PATH']}` }
    const ended = await launch({ ...call, environment }, patience())
    t.match(ended, { exitCode: 128, stdout: 'out\n', stderr: /remote: first\n[^]*\nfatal: gone\n$/ })
    t.ok(ended.stderr.length < 300 * 1024, `${ended.stderr.length} characters`)
  })
})

drawn('a machine without git gets an error', async (t) => {
  await inWorkspace(tmpdir(), async ({ folder }) => {
    const call = callOf(folder, ['version'])
    const lost = await launch(
      { ...call, environment: { ...call.environment, PATH: '/nonexistent' } },
      patience(),
    )
    t.not(lost.exitCode, 0)
  })
})
