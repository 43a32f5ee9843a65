import t from 'tap'
import type { Test } from 'tap'
import { followServerClock } from '../../../functions/cluster/server-clock.ts'
import { Failure } from '../../../functions/domain/failure.ts'
import { issueCertificate } from '../../../webhook/certificate/issue.ts'
import { keepCertificate, KEEPER_TIMES } from '../../../webhook/certificate/keeper.ts'
import type { KeeperOptions } from '../../../webhook/certificate/keeper.ts'
import { certificatesIn } from '../../../webhook/certificate/state.ts'
import type { KeyPair } from '../../../webhook/tls.ts'
import { waitFor } from '../../harness/wait.ts'
import { sharedCluster } from './stage.ts'
import type { SharedCluster } from './stage.ts'

const DAY = 86_400_000
const TIMES = { ...KEEPER_TIMES, lookMs: 5, settleMs: 0 }

function replica(shared: SharedCluster, clock: { now: Date }, more: Partial<KeeperOptions> = {}) {
  const { secret, trust } = shared
  const options = { host: 'localhost', now: () => clock.now, clientCA: async () => undefined, times: TIMES }
  return keepCertificate({ secret, trust, ...options, ...more })
}

/** Follows the pair until the test ends; `served` is what it serves. */
function follow(t: Test, source: ReturnType<typeof replica>, pair: KeyPair) {
  const seen = { served: pair, complaints: [] as string[] }
  const stop = source.follow(pair, {
    changed: (next) => (seen.served = next),
    broken: ({ message }) => seen.complaints.push(message),
  })
  t.teardown(stop)
  return seen
}

t.test('replicas that start together agree, and both configurations trust what they serve', async (t) => {
  const [shared, clock] = [sharedCluster(), { now: new Date() }]
  const pairs = await Promise.all([1, 2, 3].map(() => replica(shared, clock).open()))
  for (const { cert } of pairs) t.equal(cert, shared.texts()?.['tls.crt'])
  for (const bundle of shared.bundles) t.equal(bundle, `${shared.texts()?.['ca.crt']?.trim()}\n`)
})

t.test('a renewal: old and new authority side by side, and then all serve the new one', async (t) => {
  const [shared, clock] = [sharedCluster(), { now: new Date() }]
  const sources = [replica(shared, clock), replica(shared, clock)]
  const seen = await Promise.all(sources.map(async (source) => follow(t, source, await source.open())))
  const old = shared.texts()?.['tls.crt']
  clock.now = new Date(clock.now.getTime() + 61 * DAY)
  await waitFor('trust', () => shared.texts()?.['next-trusted-since'], 5_000)
  for (const bundle of shared.bundles) t.equal(certificatesIn(bundle).length, 2)
  for (const { served } of seen) t.equal(served.cert, old, 'not served yet')
  clock.now = new Date(clock.now.getTime() + KEEPER_TIMES.trustMs)
  await waitFor('renewal', () => (seen.every(({ served }) => served.cert !== old) ? true : undefined), 5_000)
  for (const { served, complaints } of seen) {
    t.equal(served.cert, shared.texts()?.['tls.crt'])
    t.strictSame(complaints, [])
  }
  for (const bundle of shared.bundles)
    t.equal(certificatesIn(bundle).length, 2, 'the old one may still be served')
})

t.test(
  'an API behind the API server, whose answers say that it is 2038, renews no certificate',
  async (t) => {
    const shared = sharedCluster()
    const told = { date: '' }
    const clock = followServerClock(
      () => Promise.resolve({ status: 200, text: '{}', date: told.date }),
      () => performance.now(),
    )
    const source = keepCertificate({
      secret: shared.secret,
      trust: shared.trust,
      host: 'localhost',
      now: clock.now,
      clientCA: async () => undefined,
      times: TIMES,
    })
    const { served, complaints } = follow(t, source, await source.open())
    told.date = 'Fri, 01 Jan 2038 00:00:00 GMT'
    await clock.server({ method: 'GET', path: '/apis/things.example.com/v1' })
    t.strictSame([(await source.open()).cert, shared.texts()?.['tls.crt']], [served.cert, served.cert])
    t.strictSame(complaints, [])
  },
)

t.test('who was overtaken reads again', async (t) => {
  const [shared, clock] = [sharedCluster(), { now: new Date() }]
  shared.meanwhile = () => replica(shared, clock).open()
  const { cert } = await replica(shared, clock).open()
  t.equal(cert, shared.texts()?.['tls.crt'])
  const busy = { read: async () => undefined, write: async () => undefined }
  await t.rejects(replica(sharedCluster(), clock, { secret: busy }).open(), {
    reason: 'Conflict',
    message: /changed by others/,
  })
})

t.test(
  'what others have made the API server trust stays: their certificate may still be served',
  async (t) => {
    const { authority } = await issueCertificate({ host: 'localhost', now: new Date(), days: 90 })
    const shared = sharedCluster([authority, authority])
    await replica(shared, { now: new Date() }).open()
    for (const bundle of shared.bundles) {
      t.equal(certificatesIn(bundle).length, 2)
      t.match(bundle, authority.trim())
    }
  },
)

t.test('a bundle that somebody empties is filled again', async (t) => {
  const [shared, clock] = [sharedCluster(), { now: new Date() }]
  const source = replica(shared, clock)
  const { complaints } = follow(t, source, await source.open())
  const [bundle] = shared.bundles
  shared.bundles[1] = ''
  await waitFor('bundle', () => (shared.bundles[1] === bundle ? true : undefined), 5_000)
  t.strictSame(complaints, [])
})

t.test('a look that fails leaves what is served, and is reported once', async (t) => {
  const [shared, clock] = [sharedCluster(), { now: new Date() }]
  let looks = 0
  let error: Error | undefined
  const secret = {
    ...shared.secret,
    async read() {
      looks += 1
      if (error !== undefined) throw error
      return shared.secret.read()
    },
  }
  const source = replica(shared, clock, { secret })
  const pair = await source.open()
  const seen = follow(t, source, pair)
  const moreLooks = async (): Promise<void> => {
    const before = looks
    await waitFor('looks', () => (looks > before + 2 ? true : undefined), 5_000)
  }
  error = new Failure('NetworkError', 'The API server is away.')
  await moreLooks()
  error = new Error('a bug')
  await moreLooks()
  t.strictSame(seen.complaints, ['The API server is away.', 'The certificate could not be renewed.'])
  t.equal(seen.served, pair)
})

t.test('authorities of client certificates are read at each look', async (t) => {
  let ca: string | undefined = 'one'
  const source = replica(sharedCluster(), { now: new Date() }, { clientCA: async () => ca })
  const pair = await source.open()
  t.equal(pair.ca, 'one')
  const seen = follow(t, source, pair)
  ca = undefined
  await waitFor('change', () => (seen.served.ca === undefined ? true : undefined), 5_000)
})
