import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { shareThread } from '../../functions/attempt/turns/thread/thread-share.ts'
import { connectCluster } from '../../functions/cluster/connect.ts'
import type { Cluster, Secret } from '../../functions/cluster/cluster.ts'
import { parseRepositoryAddress } from '../../functions/domain/repository/address.ts'
import { accountRefused } from '../../functions/cluster/calls/answer.ts'
import { targetOf } from '../../functions/domain/repository/target.ts'
import { unlessAborted } from '../../functions/domain/deadline.ts'
import { Failure } from '../../functions/domain/failure.ts'
import type { SecretRights } from '../../functions/domain/gate/secrets.ts'
import { readSecret as readIn, type SecretField } from '../../functions/login/read-secret.ts'
import type { SecretRequest } from '../../functions/login/read-secret.ts'
import type { World } from '../../functions/world.ts'
import { memoryCluster } from '../harness/memory-cluster.ts'
import { ATTEMPT } from '../harness/memory-world.ts'

const ONE_SENTENCE =
  'The Secret git in the namespace team is not one that developer may `get`, or may `use` for this repository (`use` counts only while the annotation commitlet.dev/allowed-repositories of the Secret covers it); ask the owner of the Secret, or name another one.'

const NAMED = { field: 'spec.credentials', credentials: { secretName: 'git' } } as const

/** Reads it from this cluster, as if nobody else had work. */
function readSecret(
  named: SecretField,
  request: SecretRequest,
  { cluster }: { readonly cluster: Cluster },
): Promise<Secret> {
  return readIn(named, request, { cluster, workFor: shareThread().workFor })
}

/** For whom it is read: a developer with these rights, at this repository. */
function request(secretRights: SecretRights): SecretRequest {
  const subject = { username: 'developer' }
  return {
    namespace: 'team',
    authorised: {
      requester: { subject, username: 'controller', displayName: 'controller as developer' },
      verdict: { fieldErrors: [], warnings: [], served: new Map(), secretRights },
    },
    target: targetOf('GitCommit', parseRepositoryAddress('https://git.example.com/acme/shop.git')),
    signal: new AbortController().signal,
    saw: () => undefined,
    stillThere: ATTEMPT.stillThere,
  }
}

/** A cluster where the Secret allows these repositories, or anything, or is not there; and a request for it. */
function stage(right: 'get' | 'use', allowed: string | null | undefined) {
  const cluster = memoryCluster()
  const annotations = typeof allowed === 'string' ? { 'commitlet.dev/allowed-repositories': allowed } : {}
  const metadata = { namespace: 'team', name: 'git', annotations }
  if (allowed !== undefined) {
    cluster.apply({ apiVersion: 'v1', kind: 'Secret', metadata, stringData: { token: 's3cr3t' } })
  }
  return { cluster, request: request({ 'spec.credentials': right }) }
}

for (const [title, right, allowed] of [
  ['that the user may get and that has no annotation', 'get', null],
  ['that the user may get and that covers the repository', 'get', 'git.example.com/acme'],
  ['that the user may use and that covers the repository', 'use', 'github.com, git.example.com/acme/shop'],
] as const) {
  t.test(`a Secret ${title} is read`, async (t) => {
    const { cluster, request } = stage(right, allowed)
    const { data } = await readSecret(NAMED, request, { cluster })
    t.equal(Buffer.from(data.get('token') ?? []).toString(), 's3cr3t')
  })
}

t.test('for a pull request of an SSH address the Secret has to allow the API as well', async (t) => {
  const address = parseRepositoryAddress('ssh://git@git.example.com:8443/acme/shop.git')
  const read = (kind: 'GitCommit' | 'PullRequest', allowed: string): Promise<unknown> => {
    const { cluster, request } = stage('get', allowed)
    return readSecret(NAMED, { ...request, target: targetOf(kind, address) }, { cluster })
  }
  t.match(await read('GitCommit', 'git.example.com:8443/acme'), { name: 'git' })
  t.match(await read('PullRequest', 'git.example.com:8443/acme, git.example.com/acme'), { name: 'git' })
  await t.rejects(read('PullRequest', 'git.example.com:8443/acme'), {
    reason: 'ReferenceForbidden',
    message:
      /does not allow https:\/\/git\.example\.com\/acme\/shop; add git\.example\.com\/acme\/shop to its annotation/,
  })
})

for (const [title, allowed] of [
  ['missing', undefined],
  ['unbound', null],
  ['bound to another repository', 'git.example.com/acme-evil'],
  ['bound to nothing', ''],
] as const) {
  t.test(
    `a user who may only use a Secret does not learn that it is ${title}; it may be fixed`,
    async (t) => {
      const { cluster, request } = stage('use', allowed)
      const refusal = await readSecret(NAMED, request, { cluster }).catch((error: unknown) => error)
      t.match(refusal, { reason: 'ReferenceForbidden', retry: 'slow', message: ONE_SENTENCE })
    },
  )
}

t.test(
  'a user who may only use a Secret does not learn that it is there, but too large to be read',
  async (t) => {
    const tooLarge = new Failure('CredentialsInvalid', 'The Secret team/git has more than 10,000 keys.')
    for (const right of ['get', 'use'] as const) {
      const { cluster, request } = stage(right, 'git.example.com/acme')
      const seen: unknown[] = []
      const saw: SecretRequest['saw'] = (field, version) => void seen.push([field, version])
      const failing = { ...cluster, readSecret: () => Promise.reject(tooLarge) }
      const thrown = await readSecret(NAMED, { ...request, saw }, { cluster: failing }).catch(
        (e: unknown) => e,
      )
      if (right === 'get') t.equal(thrown, tooLarge)
      else t.match(thrown, { reason: 'ReferenceForbidden', retry: 'slow', message: ONE_SENTENCE })
      const { version } = await cluster.readSecret('team', 'git')
      t.strictSame(seen, [[NAMED.field, version]], 'an attempt is made once it has changed, as for any other')
    }
  },
)

t.test('a user who may get it learns what is wrong, and a missing one is retried', async (t) => {
  const missing = stage('get', undefined)
  await t.rejects(readSecret(NAMED, missing.request, missing), {
    reason: 'ReferenceNotFound',
    message: /^There is no Secret team\/git/,
  })
  const elsewhere = stage('get', 'github.com')
  await t.rejects(readSecret(NAMED, elsewhere.request, elsewhere), {
    reason: 'ReferenceForbidden',
    message: /^The Secret team\/git does not allow https:\/\/git\.example\.com\/acme\/shop/,
  })
})

t.test('a Secret is not used once the right to it is gone, however lately it was reviewed', async (t) => {
  for (const right of ['get', 'use'] as const) {
    const { cluster, request } = stage(right, 'git.example.com/acme')
    cluster.mayAccess = (_user, { verb }) => verb !== right
    const refusal = await readSecret(NAMED, request, { cluster }).catch((error: unknown) => error)
    t.match(refusal, { reason: 'ReferenceForbidden', retry: 'slow', message: ONE_SENTENCE })
    const access = { verb: right, group: '', resource: 'secrets', namespace: 'team', name: 'git' }
    t.match(cluster.reviews, [{ user: { username: 'developer' }, access }])
  }
})

t.test('a denial for which an authoriser does not answer is tried again soon', async (t) => {
  const { cluster, request } = stage('get', 'git.example.com/acme')
  cluster.mayAccess = () => false
  const undecided = { ...cluster, knowsRights: () => Promise.resolve(false) }
  const refusal = await readSecret(NAMED, request, { cluster: undecided }).catch((error: unknown) => error)
  t.match(refusal, { reason: 'ProviderUnavailable', retry: 'transient' })
})

t.test('a Secret that was made under an old name is not used for a resource that is gone', async (t) => {
  const { cluster, request } = stage('get', 'git.example.com/acme')
  const read: string[] = []
  const watched = {
    ...cluster,
    readSecret: (namespace: string, name: string) => {
      read.push(name)
      return cluster.readSecret(namespace, name)
    },
  }
  const stillThere = (): Promise<never> => {
    t.strictSame(read, ['git'], 'asked once it is read')
    return Promise.reject(new Failure('Conflict', 'It was deleted.'))
  }
  await t.rejects(readSecret(NAMED, { ...request, stillThere }, { cluster: watched }), {
    message: 'It was deleted.',
  })
})

t.test('other failures of the cluster are passed on, whatever the right', async (t) => {
  for (const error of [
    accountRefused('The function may not.'),
    new Failure('NetworkError', 'No API server.'),
    new TypeError('a bug'),
  ]) {
    for (const right of ['get', 'use'] as const) {
      const { cluster, request } = stage(right, null)
      const failing = { ...cluster, readSecret: () => Promise.reject(error) }
      t.equal(
        await readSecret(NAMED, request, { cluster: failing }).catch((thrown: unknown) => thrown),
        error,
      )
    }
  }
})

for (const [field, secretRights] of [
  ['spec.credentials', { 'spec.credentials': 'use', 'spec.fallbackCredentials': 'get' }],
  ['spec.fallbackCredentials', { 'spec.credentials': 'get', 'spec.fallbackCredentials': 'use' }],
] as const) {
  t.test(
    `the Secret of ${field} is read with the right to that one, and a refusal shows the requester`,
    async (t) => {
      const { cluster } = stage('get', null)
      const found = { field, credentials: { secretName: 'git' } }
      await t.rejects(readSecret(found, request(secretRights), { cluster }), {
        reason: 'ReferenceForbidden',
        message: ONE_SENTENCE,
      })
    },
  )
}

for (const [title, secretRights, secretName] of [
  ['no right', {}, 'git'],
  ['a right to the other Secret alone', { 'spec.fallbackCredentials': 'get' }, 'git'],
  ['an empty name', { 'spec.credentials': 'get' }, ''],
] as const) {
  t.test(`nothing is read with ${title}, least of all the list of Secrets`, async (t) => {
    const cluster = { ...memoryCluster(), readSecret: () => Promise.reject(new Error('it was read')) }
    const found = { field: 'spec.credentials', credentials: { secretName } } as const
    await t.rejects(readSecret(found, request(secretRights), { cluster }), {
      name: 'Failure',
      reason: 'Internal',
      message:
        'No right to the Secret of spec.credentials was found; ask your Commitlet operator to check the log.',
    })
  })
}

/** A thread of which a namespace gets nothing until it is given, and whose works were done. */
function spent() {
  const works: string[] = []
  const open: (() => void)[] = []
  const workFor: World['workFor'] = async (namespace, work, signal) => {
    const turn = new Promise<void>((resolve) => open.push(resolve))
    await unlessAborted(turn, signal)
    works.push(namespace)
    return work()
  }
  async function give(): Promise<void> {
    for (const next of open.splice(0)) next()
    await setImmediate()
  }
  return { works, workFor, give }
}

t.test('a Secret is parsed and checked in the share of its namespace', async (t) => {
  const metadata = { namespace: 'team', name: 'git' }
  const text = JSON.stringify({ kind: 'Secret', metadata, data: { token: 'czNjcjN0' } })
  const connected = connectCluster(() => Promise.resolve({ status: 200, text }))
  const cluster = { ...connected, reviewAccess: () => Promise.resolve(true) }
  const { works, workFor, give } = spent()
  const seen = { read: false }
  const read = readIn(NAMED, request({ 'spec.credentials': 'get' }), { cluster, workFor })
  void read.then(() => (seen.read = true))
  await setImmediate()
  t.same(works, [])
  await give()
  t.same(works, ['team'], 'it is parsed')
  t.notOk(seen.read)
  await give()
  t.same(works, ['team', 'team'], 'and checked')
  t.match(await read, { name: 'git' })
})

t.test('the read of a Secret, and its wait for the share, end with the attempt', async (t) => {
  for (const answer of [new Promise<never>(() => undefined), Promise.resolve({ status: 200, text: '{}' })]) {
    const signals: (AbortSignal | undefined)[] = []
    const cluster = connectCluster(({ signal }) => {
      signals.push(signal)
      const ends = new Promise<never>((_resolve, reject) => {
        signal?.addEventListener('abort', () => reject(new Failure('Timeout', 'The call was ended.')))
      })
      return Promise.race([answer, ends])
    })
    const over = new AbortController()
    const { workFor } = spent()
    const asked = { ...request({ 'spec.credentials': 'get' }), signal: over.signal }
    const read = readIn(NAMED, asked, { cluster, workFor })
    await setImmediate()
    over.abort(new Failure('Timeout', 'The attempt ran out of time.'))
    await t.rejects(read, { name: 'Failure', reason: 'Timeout' })
    t.strictSame(signals, [over.signal])
  }
})
