import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises'
import { connect, createServer } from 'node:tls'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Test } from 'tap'
import { WEBHOOK_HOST } from '../harness/commitlet.ts'
import { findBinaries } from '../harness/control-plane-binaries.ts'
import type { ControlPlane, Ran } from '../harness/control-plane.ts'
import { ROOT } from './read.ts'

const MANIFESTS = new URL('manifests', ROOT).pathname
const CONFIGURATIONS = ['mutatingwebhookconfiguration', 'validatingwebhookconfiguration']

/** The scripts of manifests/setup, from a cluster without anything to one where all of manifests/ is installed. */
export async function trySetup(t: Test, plane: ControlPlane): Promise<void> {
  const run = await runner(t, plane)

  t.test('without the namespace both scripts say what to run first', async (t) => {
    for (const script of ['certificate.sh', 'stamp-key.sh']) {
      const { code, stderr } = await run(script)
      t.equal(code, 1)
      t.match(
        stderr,
        `${script}: the namespace commitlet-system cannot be read; check the context of kubectl and run step 2 of docs/install.md`,
      )
    }
  })

  await t.test('everything is installed, without a warning', async (t) => {
    const { stderr } = await plane.kubectl(['apply', '-k', MANIFESTS])
    t.equal(stderr, '')
  })

  t.test('an unknown option is named', async (t) => {
    for (const script of ['certificate.sh', 'stamp-key.sh', 'source-key.sh']) {
      const { code, stderr } = await run(script, '--all')
      t.equal(code, 1)
      t.match(stderr, '"--all" is not an option')
    }
  })

  t.test('the certificate is one that the API server will trust, and an apply keeps it so', async (t) => {
    const { code, stdout, stderr } = await run('certificate.sh')
    t.equal(code, 0, stderr)
    t.match(stdout, `contains a certificate for ${WEBHOOK_HOST}, valid until`)
    t.ok(await isTrusted(await readCertificate(plane), await authorities(plane)))
    const before = await authorities(plane)
    // The last as it was installed: then the same again changes nothing.
    for (const way of [['--server-side', '--force-conflicts'], []]) {
      await plane.kubectl(['apply', '-k', MANIFESTS, ...way])
      t.equal(await authorities(plane), before)
    }
  })

  t.test('a new certificate is trusted before the old one is removed', async (t) => {
    const old = await readCertificate(plane)
    t.equal((await run('certificate.sh')).code, 0)
    const bundle = await authorities(plane)
    const renewed = await readCertificate(plane)
    t.not(renewed.cert, old.cert)
    t.ok(await isTrusted(old, bundle))
    t.ok(await isTrusted(renewed, bundle))
    await run('certificate.sh')
    await run('certificate.sh')
    t.equal((await authorities(plane)).match(/BEGIN CERTIFICATE/g)?.length, 3)
    t.notOk(await isTrusted(old, await authorities(plane)))
  })

  t.test('the stamp key is created once, and again only with --renew', async (t) => {
    t.match((await run('stamp-key.sh')).stdout, 'is created')
    const first = await readKey(plane)
    t.equal(Buffer.from(first, 'base64').length, 48)
    t.match((await run('stamp-key.sh')).stdout, 'already exists and is unchanged')
    t.equal(await readKey(plane), first)
    t.match((await run('stamp-key.sh', '--renew')).stdout, 'restart them')
    t.not(await readKey(plane), first)
    t.equal(Buffer.from(await readKey(plane), 'base64').length, 48)
  })

  t.test('with --rotate the last two old keys stay, and with --renew none', async (t) => {
    const keys: string[] = []
    for (let rotations = 0; rotations < 3; rotations += 1) {
      keys.unshift(await readKey(plane))
      t.match((await run('stamp-key.sh', '--rotate')).stdout, 'restart them: the function first')
    }
    const read = ['get', 'secret', 'commitlet-stamp-key', '-n', 'commitlet-system', '-o', 'json']
    const { data } = JSON.parse((await plane.kubectl(read)).stdout) as { readonly data: object }
    t.same(data, { key: await readKey(plane), 'key.1': keys[0], 'key.2': keys[1] })
    t.equal(new Set([...keys, await readKey(plane)]).size, 4)
    await run('stamp-key.sh', '--renew')
    const renewed = JSON.parse((await plane.kubectl(read)).stdout) as { readonly data: object }
    t.same(Object.keys(renewed.data), ['key'])
  })

  t.test('no key is kept beside its Secret', async (t) => {
    for (const name of ['commitlet-webhook-tls', 'commitlet-stamp-key']) {
      const read = ['get', 'secret', name, '-n', 'commitlet-system', '-o', 'jsonpath={.metadata.annotations}']
      t.equal((await plane.kubectl(read)).stdout, '')
    }
    t.same(await readdir(run.folder), [])
  })
}

type Runner = ((script: string, ...args: readonly string[]) => Promise<Ran>) & { readonly folder: string }

/** Runs a script of manifests/setup as the admin, with a folder for temporary files of its own. */
export async function runner(t: Test, plane: ControlPlane): Promise<Runner> {
  const found = await findBinaries({ env: process.env, say: () => undefined })
  const kubectl = 'missing' in found ? '' : dirname(found.kubectl)
  const home = await mkdtemp(join(tmpdir(), 'commitlet-setup-'))
  t.teardown(() => rm(home, { recursive: true, force: true, maxRetries: 5 }))
  const folder = join(home, 'temporary')
  await mkdir(folder)
  const path = `${kubectl}:${process.env['PATH'] ?? ''}`
  // kubectl keeps a cache in the home folder.
  const env = { PATH: path, KUBECONFIG: plane.kubeconfig, TMPDIR: folder, HOME: home, GOGC: 'off' }
  const run = (script: string, ...args: readonly string[]): Promise<Ran> =>
    new Promise((resolve) => {
      execFile(join(MANIFESTS, 'setup', script), args, { env }, (error, stdout, stderr) =>
        resolve({ code: Number(error?.code ?? 0), stdout, stderr }),
      )
    })
  return Object.assign(run, { folder })
}

/** The caBundle, PEM; the same in both configurations. */
async function authorities(plane: ControlPlane): Promise<string> {
  const path = 'jsonpath={.webhooks[0].clientConfig.caBundle}'
  const read = CONFIGURATIONS.map(
    async (kind) => (await plane.kubectl(['get', kind, 'commitlet', '-o', path])).stdout,
  )
  const [one, other] = await Promise.all(read)
  if (one !== other) throw new Error('The two configurations trust different authorities.')
  return Buffer.from(one ?? '', 'base64').toString()
}

interface Pair {
  readonly cert: string
  readonly key: string
}

async function readCertificate(plane: ControlPlane): Promise<Pair> {
  const read = ['get', 'secret', 'commitlet-webhook-tls', '-n', 'commitlet-system', '-o', 'json']
  const { type, data } = JSON.parse((await plane.kubectl(read)).stdout)
  if (type !== 'kubernetes.io/tls') throw new Error(`The Secret is of the type ${type}.`)
  const text = (name: string): string => Buffer.from(data[name], 'base64').toString()
  return { cert: text('tls.crt'), key: text('tls.key') }
}

/** The stamp key, in Base64. */
export async function readKey(plane: ControlPlane): Promise<string> {
  const read = [
    'get',
    'secret',
    'commitlet-stamp-key',
    '-n',
    'commitlet-system',
    '-o',
    'jsonpath={.data.key}',
  ]
  return (await plane.kubectl(read)).stdout
}

/** Does a client that trusts these authorities accept a server with this certificate as the webhook? */
async function isTrusted(pair: Pair, ca: string): Promise<boolean> {
  const server = createServer(pair).on('tlsClientError', () => undefined)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The server listens nowhere.')
  const client = connect({ port: address.port, host: '127.0.0.1', ca, servername: WEBHOOK_HOST })
  const trusted = await once(client, 'secureConnect').then(
    () => client.authorized,
    () => false,
  )
  client.destroy()
  server.close()
  return trusted
}
