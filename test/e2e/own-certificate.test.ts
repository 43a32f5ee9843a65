import { once } from 'node:events'
import { readFile, writeFile } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { X509Certificate } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import t from 'tap'
import type { Test } from 'tap'
import { parseAllDocuments } from 'yaml'
import { connectCluster } from '../../functions/cluster/connect.ts'
import { secretAt } from '../../functions/cluster/serving/secret-store.ts'
import { webhookTrustAt } from '../../functions/cluster/serving/webhook-trust.ts'
import { issueCertificate } from '../../webhook/certificate/issue.ts'
import { keepCertificate, KEEPER_TIMES } from '../../webhook/certificate/keeper.ts'
import { readState, writeState } from '../../webhook/certificate/state.ts'
import { readConfig } from '../../webhook/config.ts'
import { buildWebhook } from '../../webhook/webhook.ts'
import { openAs } from '../cluster/stage.ts'
import { SYSTEM, untilAllowed } from '../harness/accounts.ts'
import { installObjects, WEBHOOK_HOST } from '../harness/commitlet.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { gitCommit } from '../harness/installation.ts'
import { startWebhook } from '../harness/programs.ts'
import { sized } from '../harness/sample.ts'
import { freePort, waitFor } from '../harness/wait.ts'
import { recordingLog } from '../webhook/stage.ts'

const ROOT = join(import.meta.dirname, '../..')
const SECRET = 'commitlet-webhook-certificate'
const GROUP = '/apis/admissionregistration.k8s.io/v1'
const DEADLINE = 60_000
const DAY = 86_400_000
/** What a user lets pass after each admission. */
const PAUSE_MS = 100
/** The times of a rotation, shortened: an API server learns of a new bundle within a moment. */
const TIMES = { ...KEEPER_TIMES, trustMs: 2_000, lookMs: 200, settleMs: 500 }

/** A Service in front of the replicas: each connection goes to the next of them. */
async function startBalancer(t: Test, ports: readonly number[]): Promise<number> {
  let turn = 0
  const server = createServer((socket) => {
    const target = connect(ports[turn++ % ports.length] ?? 0, '127.0.0.1')
    socket.pipe(target).pipe(socket)
    for (const end of [socket, target])
      end.on('error', () => undefined).on('close', () => (socket.destroy(), target.destroy()))
  })
  server.listen(0)
  await once(server, 'listening')
  t.teardown(() => server.close())
  return (server.address() as AddressInfo).port
}

withControlPlane(
  t,
  async (t, plane) => {
    await installObjects(plane)
    await plane.apply(join(ROOT, 'overlays/own-certificate/rights.yaml'))
    await untilAllowed(plane, {
      account: 'webhook',
      verb: 'update',
      resource: `secrets/${SECRET}`,
      namespace: SYSTEM,
    })
    for (const kind of ['mutating', 'validating']) {
      const resource = `${kind}webhookconfigurations.admissionregistration.k8s.io/commitlet`
      await untilAllowed(plane, { account: 'webhook', verb: 'update', resource })
    }
    const login = await plane.tokenFor('commitlet-webhook', SYSTEM)
    const server = openAs(login)
    const secret = secretAt(server, { namespace: SYSTEM, name: SECRET })
    const trust = webhookTrustAt(server, 'commitlet')

    async function configure(port: number): Promise<void> {
      const text = await readFile(join(ROOT, 'manifests/webhook-configuration.yaml'), 'utf8')
      const documents = parseAllDocuments(text)
      for (const document of documents)
        document.setIn(['webhooks', 0, 'clientConfig', 'service', 'port'], port)
      await plane.apply(documents.map(String).join('---\n'))
    }

    /** A replica in this process, with the rights of a pod, but for the sweeps. */
    async function startReplica(t: Test, log: ReturnType<typeof recordingLog>): Promise<number> {
      const cluster = connectCluster(server)
      const keyPairs = keepCertificate({
        ...{ secret, trust, host: WEBHOOK_HOST, now: () => cluster.now(), times: TIMES },
        clientCA: async () => undefined,
      })
      const config = readConfig({ PORT: '0', SWEEP_INTERVAL: '0', SWEEP_FULL_INTERVAL: '0' })
      const webhook = await buildWebhook(config, { cluster, log: log.log, uuid: () => 'event', keyPairs })
      const port = await webhook.listen('127.0.0.1')
      t.teardown(() => webhook.drain(0))
      return port
    }

    t.test('admissions go on while the certificate is renewed', async (t) => {
      const logs = [recordingLog(), recordingLog()]
      await configure(9)
      const ports = await Promise.all(logs.map((log) => startReplica(t, log)))
      await configure(await startBalancer(t, ports))
      const path = `/apis/commitlet.dev/v1/namespaces/${await plane.createNamespace()}/gitcommits`
      const review = async (name: string): Promise<{ readonly status: number; readonly said: string }> => {
        const object = gitCommit(name, 'https://git.example.com/acme/config.git')
        const { status, body } = await plane.api.ask('POST', `${path}?dryRun=All`, object)
        return { status, said: JSON.stringify(body) }
      }
      await waitFor(
        'admission',
        async () => ((await review('first')).status === 201 ? true : undefined),
        DEADLINE,
      )

      const before = await secret.read()
      const state = readState(before?.texts ?? {})
      const first = state.current?.cert
      const failed: string[] = []
      let reviewed = 0
      let renewals = 0
      const isDone = (): boolean => renewals === 2 && reviewed >= sized(200, 1_000)
      // Ten users, each of whom goes on until it is done.
      const users = Array.from({ length: 10 }, async (_, user) => {
        while (!isDone()) {
          const { status, said } = await review(`u${user}-${reviewed}`)
          reviewed += 1
          if (status !== 201) failed.push(said)
          if (failed.length > 10) return
          // A hundred a second in all: as many as can be are no further proof, and take both cores.
          await setTimeout(PAUSE_MS)
        }
      })
      /** Puts a certificate there that is due as soon as it is served; returns the one that replaces it. */
      async function renew(): Promise<string> {
        const stored = await secret.read()
        const { current, previous } = readState(stored?.texts ?? {})
        if (current === undefined) throw new Error('There is no certificate.')
        const now = new Date()
        const short = await issueCertificate({ host: WEBHOOK_HOST, now, days: 10 })
        const next = { ...short, trustedSince: undefined }
        await secret.write(writeState({ current, previous, next }), stored)
        const due = await waitFor('certificate that is due', () => servedOther(current.cert), DEADLINE)
        const renewed = await waitFor('renewal', () => servedOther(due), DEADLINE)
        renewals += 1
        return renewed
      }
      const servedOther = async (than: string): Promise<string | undefined> => {
        const now = readState((await secret.read())?.texts ?? {}).current?.cert
        return now === undefined || now.trim() === than.trim() ? undefined : now
      }
      await renew()
      const last = await renew()
      await Promise.all(users)
      t.strictSame(failed, [], `${reviewed} admissions`)
      t.ok(reviewed >= sized(200, 1_000), `${reviewed} admissions`)
      t.not(last, first)
      t.ok(new X509Certificate(last).validToDate.getTime() > Date.now() + 80 * DAY)
      for (const { lines } of logs) {
        const renewed = (): true | undefined =>
          lines.filter(({ msg }) => msg === 'a new certificate is served').length >= 4 ? true : undefined
        await waitFor('new certificates of a replica', renewed, DEADLINE)
        t.strictSame(
          lines.filter(({ level }) => Number(level) >= 50),
          [],
        )
      }
      t.match(await secret.read(), { object: { type: 'kubernetes.io/tls' } })
    })

    t.test(
      'the program keeps it with the rights of the overlay, and after a restart it is the same',
      async (t) => {
        await plane.api.ask('DELETE', `/api/v1/namespaces/${SYSTEM}/secrets/${SECRET}`)
        for (const kind of ['mutating', 'validating'])
          await plane.api.ask('DELETE', `${GROUP}/${kind}webhookconfigurations/commitlet`)
        const port = await freePort()
        await configure(port)
        const kubeconfig = JSON.parse(await readFile(login, 'utf8'))
        kubeconfig.contexts[0].context.namespace = SYSTEM
        const file = join(t.testdir({}), 'kubeconfig')
        await writeFile(file, JSON.stringify(kubeconfig), { mode: 0o600 })
        const env = { KUBECONFIG: file, TLS_SECRET: SECRET, PORT: String(port) }
        const path = `/apis/commitlet.dev/v1/namespaces/${await plane.createNamespace()}/gitcommits?dryRun=All`
        const seen: unknown[] = []
        for (let start = 0; start < 2; start++) {
          const program = await startWebhook({ env })
          t.teardown(() => program.stop())
          await program.ready()
          const object = gitCommit('shop', 'https://git.example.com/acme/config.git')
          const ask = async (): Promise<true | undefined> =>
            (await plane.api.ask('POST', path, object)).status === 201 ? true : undefined
          await waitFor('admission', ask, DEADLINE)
          seen.push((await secret.read())?.texts)
          t.equal(await program.stop(), 0)
        }
        t.strictSame(seen[1], seen[0])
      },
    )

    t.test('without a namespace there is no Secret', async (t) => {
      const program = await startWebhook({ env: { KUBECONFIG: login, TLS_SECRET: SECRET } })
      await program.waitForLine((line) =>
        line.includes('TLS_SECRET is set, but the webhook runs in no namespace'),
      )
      await program.stop()
      t.notMatch(program.lines.join('\n'), '"listening"')
    })
  },
  { own: true },
)
