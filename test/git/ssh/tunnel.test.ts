import { randomBytes } from 'node:crypto'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import t from 'tap'
import { fingerprintOf } from '../../../functions/domain/network/known-hosts.ts'
import { drawnTests } from '../../harness/drawn-test.ts'
import { sample } from '../../harness/sample.ts'
import { makeKey, openssl, rewriteKey } from '../../harness/ssh-keys.ts'
import { withSSHServer } from '../../harness/ssh-server.ts'
import { processesWith } from '../../harness/processes.ts'
import { keyLogin, openSSHStage, publicHalf, sshChange } from './stage.ts'
import { outcomeOf, patience, until } from '../stage.ts'

const stage = await openSSHStage()
t.teardown(() => stage.close())

const RSA = makeKey('-t', 'rsa', '-b', '2048')
const asPEM = (key: string): string => rewriteKey(key, '-m', 'PEM')
const ecdsa = (bits: string): string => makeKey('-t', 'ecdsa', '-b', bits).privateKey
/** That every form is read, test/domain/private-key shows; here it logs in. */
const FORMS: readonly (readonly [string, () => string])[] = [
  ['RSA of OpenSSH', () => RSA.privateKey],
  ['RSA as PKCS#1', () => asPEM(RSA.privateKey)],
  ['RSA as PKCS#8', () => openssl(['pkey'], asPEM(RSA.privateKey))],
  ['ECDSA 256', () => ecdsa('256')],
  ['ECDSA 256 as SEC1', () => asPEM(ecdsa('256'))],
  ['ECDSA 384', () => ecdsa('384')],
  ['ECDSA 521', () => ecdsa('521')],
  ['ed25519 as PKCS#8', () => openssl(['genpkey', '-algorithm', 'ed25519'])],
]
const forms = sample(FORMS, () => 'a form').map(([form, make]) => [form, make()] as const)
const keys = forms.map(([, privateKey]) => publicHalf(privateKey))

await withSSHServer(
  t,
  async (t, server) => {
    const repository = await server.createRepository('acme/shop')
    const login = keyLogin(server.writer, server.knownHosts)
    /** What the contract of the engines has over SSH, too. */
    const drawn = drawnTests(t, 4)

    await t.test('a commit lands on one connection, and no temporary file is left', async (t) => {
      const before = await logins()
      const landed = await stage.push(sshChange(repository.url, 'a.md'), login)
      t.same(landed, { outcome: 'pushed', sha: await repository.git('rev-parse', 'main'), branch: 'main' })
      t.equal(await repository.show('main:a.md'), 'content of a.md\n')
      t.equal((await logins()) - before, 1)
      t.match(await stage.push(sshChange(repository.url, 'a.md'), login), { outcome: 'unchanged' })
      t.same(await processesWith(stage.tempDir), [])
      t.same(listeners(), [])
    })

    for (const [form, privateKey] of forms) {
      await t.test(`${form} is accepted`, async (t) => {
        const landed = await stage.push(
          sshChange(repository.url, `${form}.md`),
          keyLogin({ privateKey }, server.knownHosts),
        )
        t.match(landed, { outcome: 'pushed' })
      })
    }

    await drawn('many changes at once share the connection and the push', async (t) => {
      const before = await logins()
      const work = Array.from({ length: 20 }, (_, i) =>
        stage.push(sshChange(repository.url, `many/${i}.md`), login),
      )
      t.ok((await Promise.all(work)).every((landed) => !(landed instanceof Error)))
      t.ok((await logins()) - before <= 2)
      t.equal((await repository.git('ls-tree', '--name-only', 'main', 'many/')).split('\n').length, 20)
    })

    await drawn('with writers of other processes, no commit is lost', async (t) => {
      const writers = [stage.open(), stage.open(), stage.open()]
      const work = writers.flatMap((writer, w) =>
        [1, 2].map((i) =>
          outcomeOf(writer.push(sshChange(repository.url, `race/${w}-${i}.md`), login, patience())),
        ),
      )
      t.ok((await Promise.all(work)).every((landed) => !(landed instanceof Error)))
      t.equal((await repository.git('ls-tree', '--name-only', 'main', 'race/')).split('\n').length, 6)
    })

    await drawn('a new branch, an empty repository and the commit of an earlier attempt', async (t) => {
      t.match(await stage.push(sshChange(repository.url, 'new.md', { branch: 'feature/x' }), login), {
        outcome: 'pushed',
        branch: 'feature/x',
      })
      const empty = await server.createRepository('acme/empty', { empty: true })
      const first = { branch: undefined, since: new Date(Date.now() - 60_000) }
      const change = sshChange(empty.url, 'first.md', first)
      t.match(await stage.push(change, login), { outcome: 'pushed', branch: 'main' })
      await empty.commit('main', { 'first.md': 'by another' })
      t.match(await stage.push(change, login), { outcome: 'found' })
      t.match(await stage.open().find(change, login, patience()), { outcome: 'found' })
    })

    await drawn('a hook that declines is quoted', async (t) => {
      const hooks = { 'pre-receive': 'echo "no commits on Fridays" >&2; exit 1' }
      const strict = await server.createRepository('acme/strict', { hooks })
      t.match(await stage.push(sshChange(strict.url, 'a.md'), login), {
        reason: 'PushRejected',
        message: /reports "no commits on Fridays"/,
      })
    })

    await drawn('FETCH_LIMIT holds', async (t) => {
      const files = { 'large.bin': randomBytes(3_000_000) }
      const large = await server.createRepository('acme/large', { files, allowFilter: false })
      const writer = stage.open({ fetchLimitMiB: 1 })
      const failure = await outcomeOf(writer.push(sshChange(large.url, 'a.md'), login, patience()))
      t.match(failure, { reason: 'NotSupported', message: /more than 1 MiB/ })
    })

    const stranger = makeKey('-t', 'ed25519')
    const strangersRSA = makeKey('-t', 'rsa', '-b', '2048')
    const other = makeKey('-t', 'ed25519')
    const [ed25519 = '', p256 = '', rsa = ''] = server.knownHosts.trim().split('\n')
    const wrong = `[127.0.0.1]:${server.port} ${other.publicKey}`
    const shown = fingerprintOf(Buffer.from(ed25519.split(' ')[2] ?? '', 'base64'))
    const cases = [
      [
        'a key that may only read',
        server.reader,
        server.knownHosts,
        'PermissionDenied',
        /does not permit it to write/,
      ],
      [
        'a key that is not known',
        stranger,
        server.knownHosts,
        'AuthenticationFailed',
        printOf(stranger.publicKey),
      ],
      [
        'an RSA key that is not known',
        strangersRSA,
        server.knownHosts,
        'AuthenticationFailed',
        `the user ${server.user}`,
      ],
      ['another host key', server.writer, wrong, 'HostKeyMismatch', shown],
      [
        'another host key, beside it the pinned one',
        server.writer,
        wrong,
        'HostKeyMismatch',
        printOf(other.publicKey),
      ],
      [
        'a host key that is revoked',
        server.writer,
        `${server.knownHosts}@revoked ${ed25519}\n`,
        'HostKeyMismatch',
        /revoked/,
      ],
    ] as const
    for (const [name, key, knownHosts, reason, says] of sample(cases, ([, , , reason]) => reason)) {
      await t.test(`${name} is ${reason}`, async (t) => {
        const failure = await stage.push(sshChange(repository.url, 'x.md'), keyLogin(key, knownHosts))
        t.match(failure, { reason, message: says })
        t.match(failure, { message: repository.url })
      })
    }

    await t.test('the host uses the known key, whichever it is', async (t) => {
      for (const line of sample([ed25519, p256, rsa], () => 'a host key')) {
        const landed = await stage.push(
          sshChange(repository.url, `${line.split(' ')[1]}.md`),
          keyLogin(server.writer, line),
        )
        t.match(landed, { outcome: 'pushed' }, line)
      }
    })

    await drawn('a repository that is not there, and one of a host that takes no connection', async (t) => {
      const none = await stage.push(sshChange(`${server.url}/acme/none.git`, 'a.md'), login)
      t.match(none, { reason: 'RepositoryNotFound', message: /acme\/none\.git does not exist/ })
      const closed = `ssh://git@127.0.0.1:1/acme/shop.git`
      t.match(await stage.push(sshChange(closed, 'a.md'), login), {
        reason: 'NetworkError',
        message: /nothing accepts the connection/,
      })
      const unknown = 'ssh://git@git.invalid:2222/acme/shop.git'
      t.match(await stage.push(sshChange(unknown, 'a.md'), login), {
        reason: 'NetworkError',
        message: /not known to DNS/,
      })
    })

    await t.test('no other process ever sees the key', async (t) => {
      const [, line = ''] = login.privateKey.split('\n')
      const hooks = { 'pre-receive': 'while [ ! -e go ]; do sleep 0.05; done' }
      const slow = await server.createRepository('acme/slow', { hooks })
      const work = stage.push(sshChange(slow.url, 'a.md'), login)
      const seen = await until('a push on its way', async () => {
        const found = await processesWith(stage.tempDir)
        return found.some((command) => command.includes('push')) ? found : undefined
      })
      t.ok(
        seen.every((command) => isHook(command) || !/acme|ssh|git:|127\.0\.0\.1/.test(command)),
        'nor where the tunnel is',
      )
      for (const pid of (await readdir('/proc')).filter(
        (name) => /^\d+$/.test(name) && name !== String(process.pid),
      )) {
        for (const file of ['cmdline', 'environ']) {
          const content = await readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')
          if (content.includes(line)) t.fail(`${pid} has it in ${file}`)
        }
      }
      await writeFile(`${slow.path}/go`, '')
      t.match(await work, { outcome: 'pushed' })
    })

    await drawn('an attempt whose time is over leaves nothing behind', async (t) => {
      const hooks = { 'pre-receive': 'sleep 60 & echo $! > pid; wait' }
      const hanging = await server.createRepository('acme/hanging', { hooks })
      const abort = new AbortController()
      const work = stage.push(sshChange(hanging.url, 'a.md'), login, abort.signal)
      const pid = await until('the hook', () => numberIn(`${hanging.path}/pid`))
      abort.abort()
      t.match(await work, { reason: 'Timeout' })
      process.kill(pid)
      await until('no process', async () => (await processesWith(stage.tempDir)).length === 0)
      await until('no listener', () => Promise.resolve(listeners().length === 0))
    })

    async function logins(): Promise<number> {
      return (await server.log()).split('Accepted publickey').length
    }
  },
  { keys },
)

/** Git tells the hook the URL of the tunnel, which has taken the one connection of this push by then. */
function isHook(command: string): boolean {
  return /\bpre-push\b/.test(command)
}

const alone = drawnTests(t, 3)

await alone('weak algorithms are not used, and the sentence names them', async (t) => {
  const weak = [
    ['KexAlgorithms diffie-hellman-group14-sha1', /key exchanges .*\(diffie-hellman-group14-sha1/],
    ['KexAlgorithms diffie-hellman-group-exchange-sha256', /key exchanges .*\(diffie-hellman-group-ex/],
    ['HostKeyAlgorithms ssh-rsa', /host key signatures .*\(ssh-rsa\)/],
    ['Ciphers aes128-cbc', /ciphers .*\(aes128-cbc\)/],
    ['Ciphers aes128-ctr\nMACs hmac-sha1', /checksums .*\(hmac-sha1\)/],
  ] as const
  for (const [config, says] of sample(weak, () => 'an algorithm')) {
    await withSSHServer(
      t,
      async (t, server) => {
        const { url } = await server.createRepository('acme/shop')
        const failure = await stage.push(sshChange(url, 'a.md'), keyLogin(server.writer, server.knownHosts))
        t.match(failure, { reason: 'NotSupported', message: says })
      },
      { config: [config] },
    )
  }
})

await alone('a server that accepts only SHA-1 from RSA keys does not get it', async (t) => {
  const options = { config: ['PubkeyAcceptedAlgorithms ssh-rsa'], keys: [RSA.publicKey] }
  await withSSHServer(
    t,
    async (t, server) => {
      const { url } = await server.createRepository('acme/shop')
      const failure = await stage.push(sshChange(url, 'a.md'), keyLogin(RSA, server.knownHosts))
      t.match(failure, { reason: 'AuthenticationFailed' })
    },
    options,
  )
})

await alone('a server that allows no session is reported, and one session at a time is enough', async (t) => {
  for (const [config, expected] of [
    ['MaxSessions 0', { reason: 'PermissionDenied', message: /does not let it run git-upload-pack/ }],
    ['MaxSessions 1', { outcome: 'pushed' }],
  ] as const) {
    await withSSHServer(
      t,
      async (t, server) => {
        const { url } = await server.createRepository('acme/shop')
        t.match(
          await stage.push(sshChange(url, 'a.md'), keyLogin(server.writer, server.knownHosts)),
          expected,
        )
      },
      { config: [config] },
    )
  }
})

await alone('an IPv6 address', async (t) => {
  await withSSHServer(
    t,
    async (t, server) => {
      const { url } = await server.createRepository('acme/shop')
      t.match(url, /@\[::1\]:/)
      t.match(await stage.push(sshChange(url, 'a.md'), keyLogin(server.writer, server.knownHosts)), {
        outcome: 'pushed',
      })
    },
    { host: '::1' },
  )
})

async function numberIn(file: string): Promise<number | undefined> {
  return Number(await readFile(file, 'utf8').catch(() => '')) || undefined
}

/** Servers of this process that still listen. */
function listeners(): readonly string[] {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap')
}

function printOf(publicKey: string): string {
  return fingerprintOf(Buffer.from(publicKey.split(' ')[1] ?? '', 'base64'))
}
