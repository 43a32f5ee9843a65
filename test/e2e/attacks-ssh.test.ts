import t from 'tap'
import type { Test } from 'tap'
import { readyOf } from '../harness/conditions.ts'
import { configMap, gitCommit } from '../harness/installation.ts'
import type { Installation } from '../harness/installation.ts'
import { withCommitlet } from '../harness/shared-installation.ts'
import { makeKey } from '../harness/ssh-keys.ts'
import { withSSHServer } from '../harness/ssh-server.ts'
import type { SSHServer } from '../harness/ssh-server.ts'

const ALLOWED = 'commitlet.dev/allowed-repositories'
const KEYS = { privateKeyKey: 'ssh-privatekey', knownHostsKey: 'known_hosts' } as const

withSSHServer(t, async (t, ssh) => {
  await withCommitlet(t, (t, commitlet) => tryAttacks(t, commitlet, ssh))
})

async function tryAttacks(t: Test, commitlet: Installation, ssh: SSHServer): Promise<void> {
  const team = await commitlet.createTeam({ secrets: ['first', 'second', 'git'] })
  const repository = await ssh.createRepository(`${team.namespace}/shop`)
  const place = `127.0.0.1:${ssh.port}`
  const account = `${ssh.user}@${place}`
  const stranger = makeKey('-t', 'ed25519')
  await team.apply(configMap())

  function secret(
    name: string,
    knownHosts: string,
    annotations: Readonly<Record<string, string>> = {},
  ): object {
    return {
      apiVersion: 'v1',
      kind: 'Secret',
      type: 'kubernetes.io/ssh-auth',
      metadata: { name, annotations },
      stringData: { 'ssh-privatekey': ssh.writer.privateKey, known_hosts: knownHosts },
    }
  }

  /** What the server has seen since the last call. */
  let seen = 0
  async function news(): Promise<string> {
    const log = await ssh.log()
    const fresh = log.slice(seen)
    seen = log.length
    return fresh
  }

  t.test('the repositories of a Secret are matched by user, whole segments and exact port', async (t) => {
    const covers: readonly (readonly [string, boolean])[] = [
      [`${account}/${team.namespace}/shop.git`, true],
      [`${account}/${team.namespace}`, true],
      [account, true],
      [`${account}/${team.namespace}/sho`, false],
      [`${account}/${team.namespace}/SHOP`, false],
      [`${account}/${team.namespace}/shop/more`, false],
      [`${ssh.user}@127.0.0.1/${team.namespace}/shop`, false],
      [`${ssh.user}@127.0.0.1:22/${team.namespace}/shop`, false],
      [`${ssh.user}@127.0.0.1:443`, false],
      // The log-in of another account than the usual one of a host.
      [place, false],
      [`git@${place}`, false],
      [`${place}/${team.namespace}`, false],
      [`ssh://${place}/${team.namespace}`, false],
      [`${place}:${team.namespace}/shop`, false],
      ['', false],
    ]
    for (const [index, [list, allowed]] of covers.entries()) {
      await team.apply(secret('first', ssh.knownHosts, { [ALLOWED]: list }))
      await news()
      const name = `bound-${index}`
      await team.apply(gitCommit(name, repository.url, { credentials: { secretName: 'first', ...KEYS } }))
      const ready = readyOf(await team.settled(name))
      t.equal(ready.status, allowed ? 'True' : 'False', list)
      const log = await news()
      if (allowed) {
        t.match(log, 'Starting session', list)
        continue
      }
      t.equal(ready.reason, 'ReferenceForbidden', list)
      t.notMatch(log, 'Connection from', `nobody called: ${list}`)
    }
  })

  t.test('a host with another key learns nothing of the user', async (t) => {
    await team.apply(secret('second', `[127.0.0.1]:${ssh.port} ${stranger.publicKey}`))
    await news()
    await team.apply(gitCommit('other', repository.url, { credentials: { secretName: 'second', ...KEYS } }))
    await team.waitFor('other', 'condition=Stalled', '60s')
    t.equal(readyOf(await team.get('other')).reason, 'HostKeyMismatch')
    const log = await news()
    t.match(log, 'Connection from', 'it was called')
    t.notMatch(log, /publickey|[Uu]ser/, 'and was told no name and shown no key')
  })

  t.test('a host without a known host key is not called', async (t) => {
    await team.apply(secret('second', `git.example.com ${stranger.publicKey}`))
    await news()
    await team.apply(gitCommit('nobody', repository.url, { credentials: { secretName: 'second', ...KEYS } }))
    await team.waitFor('nobody', 'condition=Stalled', '60s')
    t.equal(readyOf(await team.get('nobody')).reason, 'HostKeyUnknown')
    t.notMatch(await news(), 'Connection from')
  })

  t.test('addresses at which clouds hand out credentials are not called, in any notation', async (t) => {
    for (const [index, host] of ['169.254.169.254', '[::ffff:a9fe:a9fe]', '[fd00:ec2::254]'].entries()) {
      const known = `${host.replace(/[[\]]/g, '')} ${stranger.publicKey}`
      await team.apply(secret('second', known))
      const credentials = { secretName: 'second', ...KEYS }
      await team.apply(gitCommit(`cloud-${index}`, `ssh://git@${host}/acme/config.git`, { credentials }))
      t.equal(readyOf(await team.settled(`cloud-${index}`)).reason, 'AddressForbidden', host)
    }
  })

  t.test('a fallback goes no further than the first credentials: it bypasses no refusal', async (t) => {
    await team.apply(
      secret('first', ssh.knownHosts, { [ALLOWED]: 'git.example.com' }),
      secret('second', ssh.knownHosts),
    )
    await news()
    const credentials = { secretName: 'first', ...KEYS }
    const fallbackCredentials = { secretName: 'second', ...KEYS }
    await team.apply(gitCommit('around', repository.url, { credentials, fallbackCredentials }))
    t.equal(readyOf(await team.settled('around')).reason, 'ReferenceForbidden')
    t.notMatch(await news(), 'Connection from')
  })
}
