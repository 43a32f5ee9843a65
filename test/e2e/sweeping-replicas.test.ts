import { readFile, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { member, textMember } from '../../functions/domain/json-value.ts'
import { TURN_TIMES } from '../../webhook/delivery/sweep-turn.ts'
import { accountConfigs, SYSTEM } from '../harness/accounts.ts'
import { makeAuthority } from '../harness/certificates.ts'
import { installObjects } from '../harness/commitlet.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import type { Program } from '../harness/programs.ts'
import { startWebhook } from '../harness/programs.ts'
import { isLong } from '../harness/sample.ts'

const LEASE = `/apis/coordination.k8s.io/v1/namespaces/${SYSTEM}/leases/commitlet-sweeps`
const { durationMs, lookMs } = TURN_TIMES

const sweeps = (line: string): boolean => line.includes('"msg":"this replica sweeps"')

const ENDINGS: readonly { title: string; end: (one: Program) => Promise<unknown>; bound: number }[] = [
  { title: 'it ends', end: (one) => one.stop(), bound: lookMs },
  { title: 'it is killed', end: (one) => one.kill(), bound: durationMs + lookMs },
]

withControlPlane(t, async (t, plane) => {
  await installObjects(plane)
  const folder = t.testdir()
  const { certPEM, keyPEM } = await (await makeAuthority()).issue({ names: ['localhost'] })
  await writeFile(`${folder}/tls.crt`, certPEM)
  await writeFile(`${folder}/tls.key`, keyPEM)
  // As in a pod: with the rights of manifests/, and a namespace of its own.
  const config: unknown = JSON.parse(await readFile((await accountConfigs(plane)).webhook, 'utf8'))
  const contexts = [
    { name: 'test', context: { cluster: 'test', user: 'commitlet-webhook', namespace: SYSTEM } },
  ]
  await writeFile(`${folder}/config`, JSON.stringify(Object.assign({}, config, { contexts })))
  const sink = createServer((request, response) =>
    request.resume().on('end', () => response.writeHead(202).end()),
  )
  await new Promise<void>((resolve) => sink.listen(0, '127.0.0.1', resolve))
  t.teardown(() => {
    sink.closeAllConnections()
    sink.close()
  })

  async function start(): Promise<Program> {
    const env = {
      KUBECONFIG: `${folder}/config`,
      TLS_CERT_FILE: `${folder}/tls.crt`,
      TLS_KEY_FILE: `${folder}/tls.key`,
      K_SINK: `http://127.0.0.1:${(sink.address() as AddressInfo).port}`,
    }
    const program = await startWebhook({ env })
    t.teardown(() => program.kill())
    await program.ready()
    return program
  }

  const holder = async (): Promise<string> =>
    textMember(member(await plane.api.need('GET', LEASE), 'spec'), 'holderIdentity') ?? ''

  for (const { title, end, bound } of isLong() ? ENDINGS : ENDINGS.slice(0, 1))
    t.test(`one replica of the webhook sweeps; when ${title}, the other one does`, async (t) => {
      const one = await start()
      await one.waitForLine(sweeps)
      t.same(
        one.lines.filter((line) => line.includes('no right')),
        [],
      )
      const first = await holder()
      t.not(first, '')
      const two = await start()
      t.notOk(two.lines.some(sweeps))
      t.equal(await holder(), first)
      const endedAt = performance.now()
      await end(one)
      t.notOk(two.lines.some(sweeps), 'not before')
      // The other one needs some seconds to see it.
      if (!isLong()) return t.equal(await holder(), '')
      await two.waitForLine(sweeps, 10 * bound)
      t.comment(`${Math.round(performance.now() - endedAt)} ms`)
      t.not(await holder(), first)
      t.same(
        two.lines.filter((line) => /"level":(40|50)/.test(line) && /Lease|watch/.test(line)),
        [],
      )
      return two.stop()
    })
})
