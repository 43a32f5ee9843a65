import t from 'tap'
import { parseRepositoryAddress } from '../functions/domain/address.ts'
import { Failure } from '../functions/domain/failure.ts'
import type { SecretRights } from '../functions/domain/gate-secrets.ts'
import type { Credentials } from '../functions/domain/resources.ts'
import { readSecret, secretRequestOf } from '../functions/read-secret.ts'
import type { SecretRequest } from '../functions/read-secret.ts'
import { memoryCluster } from './harness/memory-cluster.ts'

const AT_LEISURE = new AbortController().signal
const ONE_SENTENCE =
  'The Secret git in the namespace team is not one that developer may `get`, or may `use` for this repository; ask whoever keeps it, or name another Secret.'

/** A request for the Secret of the namespace, in a cluster where it allows these repositories, or is not there. */
function stage(right: 'get' | 'use', allowed: string | null | undefined) {
  const cluster = memoryCluster()
  const annotations = typeof allowed === 'string' ? { 'commitlet.dev/allowed-repositories': allowed } : {}
  const metadata = { namespace: 'team', name: 'git', annotations }
  if (allowed !== undefined) {
    cluster.apply({ apiVersion: 'v1', kind: 'Secret', metadata, stringData: { token: 's3cr3t' } })
  }
  const request: SecretRequest = {
    namespace: 'team',
    name: 'git',
    user: right === 'get' ? { right } : { right, username: 'developer' },
    address: parseRepositoryAddress('https://git.example.com/acme/shop.git'),
  }
  return { cluster, request }
}

for (const [title, right, allowed] of [
  ['that one may get and nothing binds', 'get', null],
  ['that one may get and that covers the repository', 'get', 'git.example.com/acme'],
  ['that one may use and that covers the repository', 'use', 'github.com, git.example.com/acme/shop'],
] as const) {
  t.test(`a Secret ${title} is read`, async (t) => {
    const { cluster, request } = stage(right, allowed)
    const { data } = await readSecret(request, { cluster }, AT_LEISURE)
    t.equal(Buffer.from(data.get('token') ?? []).toString(), 's3cr3t')
  })
}

for (const [title, allowed] of [
  ['missing', undefined],
  ['unbound', null],
  ['bound to another repository', 'git.example.com/acme-evil'],
  ['bound to nothing', ''],
] as const) {
  t.test(`whoever may only use a Secret does not learn that it is ${title}`, async (t) => {
    const { cluster, request } = stage('use', allowed)
    const refusal = await readSecret(request, { cluster }, AT_LEISURE).catch((error: unknown) => error)
    t.match(refusal, { reason: 'ReferenceForbidden', retry: 'never', message: ONE_SENTENCE })
  })
}

t.test('whoever may get it is told what is wrong, and a missing one is waited for', async (t) => {
  const missing = stage('get', undefined)
  await t.rejects(readSecret(missing.request, missing, AT_LEISURE), {
    reason: 'ReferenceNotFound',
    message: /^There is no Secret team\/git/,
  })
  const elsewhere = stage('get', 'github.com')
  await t.rejects(readSecret(elsewhere.request, elsewhere, AT_LEISURE), {
    reason: 'ReferenceForbidden',
    message: /^The Secret team\/git does not allow https:\/\/git\.example\.com\/acme\/shop/,
  })
})

t.test('what else the cluster says is thrown on, whatever the right', async (t) => {
  for (const error of [
    new Failure('ReferenceForbidden', 'The function may not.', { retry: 'slow' }),
    new Failure('NetworkError', 'No API server.'),
    new TypeError('a bug'),
  ]) {
    for (const right of ['get', 'use'] as const) {
      const { cluster, request } = stage(right, null)
      const failing = { ...cluster, readSecret: () => Promise.reject(error) }
      t.equal(
        await readSecret(request, { cluster: failing }, AT_LEISURE).catch((thrown: unknown) => thrown),
        error,
      )
    }
  }
})

/** What is asked of a resource with these credentials, where these rights were found. */
function requestOf(secretRights: SecretRights, credentials: Credentials | undefined) {
  const repository = 'https://git.example.com/acme/shop.git'
  const spec = { repository, ...(credentials === undefined ? {} : { credentials }) }
  const resource = { metadata: { namespace: 'team' }, spec }
  const subject = { username: 'system:serviceaccount:team:commitlet' }
  const requester = { subject, username: 'controller', shown: 'controller as …' }
  const verdict = { faults: [], warnings: [], served: undefined, secretRights }
  return secretRequestOf(resource, { requester, verdict })
}

t.test('the Secret is read as the subject may, and a refusal shows the subject', async (t) => {
  const asked = { namespace: 'team', name: 'git', address: { host: 'git.example.com' } }
  const named = { secretName: 'git' }
  const read = requestOf({ 'spec.credentials': 'get' }, named)
  t.match(read, asked)
  t.strictSame(read.user, { right: 'get' })
  const used = requestOf({ 'spec.credentials': 'use', 'spec.fallbackCredentials': 'get' }, named)
  t.strictSame(used.user, { right: 'use', username: 'system:serviceaccount:team:commitlet' })
})

for (const [title, rights, credentials] of [
  ['no right', {}, { secretName: 'git' }],
  ['a right to the other Secret alone', { 'spec.fallbackCredentials': 'get' }, { secretName: 'git' }],
  ['no credentials', { 'spec.credentials': 'get' }, undefined],
  ['an empty name', { 'spec.credentials': 'get' }, { secretName: '' }],
] as const) {
  t.test(`nothing is read with ${title}, least of all the list of Secrets`, async (t) => {
    t.throws(() => requestOf(rights, credentials), {
      name: 'Failure',
      reason: 'Internal',
      message: /^No right to the Secret of spec\.credentials was found; /,
    })
  })
}
