import { createSecretKey } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { collect } from '../harness/collect.ts'
import { parseResource } from '../domain/fixtures/parsed.ts'
import { commitObject } from '../../functions/commit/commit-object.ts'
import { commitSeal } from '../../functions/domain/commit/commit-seal.ts'
import { Failure } from '../../functions/domain/failure.ts'
import { sign } from '../../functions/domain/requester/signature.ts'
import { signedOf } from '../../functions/domain/requester/stamp.ts'
import type { Cluster } from '../../functions/cluster/cluster.ts'
import type { World } from '../../functions/world.ts'
import { ATTEMPT, gitCommit, memoryWorld, STAMPED } from '../harness/memory-world.ts'

const ROLE = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', name: 'shop' } as const

/** An attempt to commit a cluster role, whose kind the gate has seen as `judged`: namespaced or not. */
async function attempt(referenceScope: 'namespace' | 'any', judged: boolean) {
  const world = memoryWorld()
  const { apiVersion, kind, name } = ROLE
  const role = { apiVersion, kind, metadata: { name } }
  const stored = world.cluster.apply(gitCommit({ resourceRef: { ...ROLE, path: 'role.yaml' } }))
  const resource = parseResource(stored)
  if (resource.kind !== 'GitCommit') throw new Error('not a GitCommit')
  const cluster = {
    ...world.cluster,
    discover: async () => ({ plural: 'clusterroles', namespaced: judged }),
    readObject: async () => JSON.stringify(role),
  }
  const settings = { ...world.settings, referenceScope }
  await commitObject(resource, { ...world, cluster, settings }, ATTEMPT)
  return Buffer.from(world.pushed[0]?.change.files[0]?.content ?? '').toString()
}

t.test('a cluster-scoped object is committed where the operator allows any', async (t) => {
  t.match(await attempt('any', false), /kind: ClusterRole\nmetadata:\n {2}name: shop\n$/)
})

t.test('a kind that became cluster-scoped after it was judged does not leave the namespace', async (t) => {
  await t.rejects(attempt('namespace', true), {
    reason: 'ReferenceForbidden',
    message:
      /^The answer for ClusterRole team\/shop is another object: its metadata\.namespace is not "team"/,
  })
})

t.test('an object that others have made in a namespace of the same name is not committed', async (t) => {
  const world = memoryWorld()
  const resource = parseResource(world.cluster.apply(gitCommit()))
  if (resource.kind !== 'GitCommit') throw new Error('not a GitCommit')
  let isThere = true
  const readObject: Cluster['readObject'] = async (...asked) => {
    // The login has been read by then.
    for (let turns = 0; turns < 20; turns += 1) await setImmediate()
    isThere = false
    return world.cluster.readObject(...asked)
  }
  const stillThere = async (): Promise<void> => {
    if (!isThere) throw new Failure('Conflict', 'It was deleted.')
  }
  const cluster = { ...world.cluster, readObject }
  const ending = commitObject(resource, { ...world, cluster }, { ...ATTEMPT, stillThere })
  await t.rejects(ending, { message: /It was deleted/ })
  t.strictSame(world.pushed, [])
})

t.test(
  'what an earlier attempt has pushed counts although the object is gone; without a push its absence counts',
  async (t) => {
    const landed = { outcome: 'found', sha: 'a'.repeat(40), branch: 'main' } as const
    for (const [again, found] of [
      [true, landed],
      [true, undefined],
      [false, landed],
    ] as const) {
      const world = memoryWorld()
      const resource = parseResource(world.cluster.apply(gitCommit()))
      if (resource.kind !== 'GitCommit') throw new Error('not a GitCommit')
      world.cluster.remove('ConfigMap', 'team', 'shop')
      const searched: unknown[] = []
      const find: World['find'] = async (draft) => {
        searched.push(draft.since)
        return found
      }
      const ending = commitObject(resource, { ...world, find }, { ...ATTEMPT, again })
      if (again && found !== undefined)
        t.match(await ending, { reason: 'Succeeded', commit: { sha: landed.sha } })
      else await t.rejects(ending, { message: /^There is no ConfigMap team\/shop/ })
      t.same(searched, again ? [new Date('2026-03-01T09:00:00Z')] : [])
      t.same(world.pushed, [])
    }
  },
)

t.test('a bug while the object is read is not a refusal, and what has landed still counts', async (t) => {
  const world = memoryWorld()
  const resource = parseResource(world.cluster.apply(gitCommit()))
  if (resource.kind !== 'GitCommit') throw new Error('not a GitCommit')
  const bug = new TypeError('a bug')
  const cluster = { ...world.cluster, readObject: () => Promise.reject(bug) }
  const ending = commitObject(resource, { ...world, cluster }, { ...ATTEMPT, again: true })
  await t.rejects(ending, { name: 'Failure', reason: 'Internal', cause: bug })
  const find: World['find'] = async () => ({ outcome: 'found', sha: 'a'.repeat(40), branch: 'main' })
  t.match(await commitObject(resource, { ...world, cluster, find }, { ...ATTEMPT, again: true }), {
    reason: 'Succeeded',
  })
})

t.test('an attempt that fails while its object is read ends that read', async (t) => {
  const world = memoryWorld()
  const resource = parseResource(world.cluster.apply(gitCommit()))
  if (resource.kind !== 'GitCommit') throw new Error('not a GitCommit')
  world.cluster.remove('Secret', 'team', 'git')
  let reading: AbortSignal | undefined
  const readObject: Cluster['readObject'] = (_ref, _served, by) => {
    reading = by?.signal
    return new Promise(() => undefined)
  }
  const ending = commitObject(resource, { ...world, cluster: { ...world.cluster, readObject } }, ATTEMPT)
  await t.rejects(ending, { name: 'Failure', reason: 'ReferenceNotFound' })
  // What is aborted may be gone before somebody looks at what was made of it.
  await setImmediate()
  collect()
  t.equal(reading?.aborted, true)
})

function applied(changes: {
  readonly annotations?: Readonly<Record<string, string>>
  readonly path?: string
}) {
  const world = memoryWorld()
  const secret = world.cluster.get('Secret', 'team', 'git')
  const metadata = { name: 'git', namespace: 'team', annotations: changes.annotations ?? {} }
  if (secret !== undefined) world.cluster.apply({ ...secret, metadata })
  const resourceRef = { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path: changes.path ?? 'a.yaml' }
  const resource = parseResource(world.cluster.apply(gitCommit({ resourceRef })))
  if (resource.kind !== 'GitCommit') throw new Error('not a GitCommit')
  return { world, resource }
}

const REPOSITORIES = 'commitlet.dev/allowed-repositories'
const PATHS = 'commitlet.dev/allowed-paths'

for (const [title, right, changes, message] of [
  ['bound elsewhere', 'get', { annotations: { [REPOSITORIES]: 'github.com' } }, /does not allow https:/],
  ['used alone and unbound', 'use', {}, /may `use` for this repository \(`use` counts only while/],
  [
    'used alone and bound elsewhere',
    'use',
    { annotations: { [REPOSITORIES]: 'github.com' } },
    /may `use` for this/,
  ],
  ['for other paths', 'get', { annotations: { [PATHS]: 'prod' } }, /is not below a path/],
  ['silent about control files', 'get', { path: '.github/workflows/a.yaml' }, /has the part "\.github"/],
] as const) {
  t.test(`a Secret that is ${title} is not used, and nothing is pushed`, async (t) => {
    const { world, resource } = applied(changes)
    world.cluster.mayAccess = (_user, access) => access.resource !== 'secrets' || access.verb === right
    await t.rejects(commitObject(resource, world, ATTEMPT), { reason: 'ReferenceForbidden', message })
    t.strictSame(world.pushed, [])
  })
}

t.test('a Secret that is used alone serves where it covers repository and control file', async (t) => {
  const annotations = { [REPOSITORIES]: 'git.example.com/acme', [PATHS]: '.github, b' }
  const { world, resource } = applied({ annotations, path: '.github/workflows/a.yaml' })
  world.cluster.mayAccess = (_user, { resource: kind, verb }) => kind !== 'secrets' || verb === 'use'
  t.match(await commitObject(resource, world, ATTEMPT), { reason: 'Succeeded' })
  t.equal(world.pushed.length, 1)
})

for (const [trailer, expected] of [
  ['name', /\nRequested-by: developer$/m],
  ['hash', /\nRequested-by: sha256:[0-9a-f]{16}$/m],
] as const) {
  t.test(`the trailer names the requester by ${trailer}`, async (t) => {
    const { world, resource } = applied({})
    const settings = { ...world.settings, requestedByTrailer: trailer }
    await commitObject(resource, { ...world, settings }, ATTEMPT)
    t.match(world.pushed[0]?.change.message, expected)
  })
}

t.test(
  'a commit has seals of the two newest keys, which replicas may know alone, and one of an older key counts for a search',
  async (t) => {
    const [stampKey, older, oldest] = [
      createSecretKey(Buffer.alloc(32, 'k')),
      createSecretKey(Buffer.alloc(32, 'o')),
      createSecretKey(Buffer.alloc(32, 'p')),
    ]
    const world = memoryWorld()
    const signature = sign(signedOf(gitCommit(), 'team', STAMPED), stampKey)
    const stored = gitCommit({}, { 'commitlet.dev/requester-signature': signature })
    const resource = parseResource(world.cluster.apply(stored))
    if (resource.kind !== 'GitCommit') throw new Error('not a GitCommit')
    const settings = { ...world.settings, stampKey, olderStampKeys: [older, oldest] }
    await commitObject(resource, { ...world, settings }, { ...ATTEMPT, again: true })
    const { repository, branch } = resource.spec
    const { id, seals, message } = world.pushed[0]?.change ?? {}
    const expected = [stampKey, older, oldest].map((key) =>
      commitSeal({ id: id ?? '', repository, branch }, key),
    )
    t.same(seals, expected)
    t.match(
      message,
      `Commitlet-Id: ${id}\nCommitlet-Seal: ${expected[0]}\nCommitlet-Seal: ${expected[1]}\nRequested-by: `,
    )
  },
)

t.test('without a key a commit has no seal, and a search asks for none', async (t) => {
  const { world, resource } = applied({})
  await commitObject(resource, world, { ...ATTEMPT, again: true })
  const { seals, message } = world.pushed[0]?.change ?? {}
  t.equal(seals, undefined)
  t.notMatch(message, 'Commitlet-Seal')
})

t.test('the trailer is left out where the operator wants none', async (t) => {
  const { world, resource } = applied({})
  await commitObject(
    resource,
    { ...world, settings: { ...world.settings, requestedByTrailer: 'off' } },
    ATTEMPT,
  )
  t.notMatch(world.pushed[0]?.change.message, 'Requested-by')
})

t.test('a kind that is not served yet is retried, and its object is not read', async (t) => {
  const { world, resource } = applied({})
  const cluster = {
    ...world.cluster,
    discover: async () => undefined,
    readObject: () => Promise.reject(new Error('nothing was judged, so nothing may be read')),
  }
  const ending = commitObject(resource, { ...world, cluster }, ATTEMPT)
  await t.rejects(ending, {
    reason: 'ReferenceNotFound',
    message: /^The cluster does not know the kind ConfigMap of v1/,
  })
})

for (const [title, answer] of [
  ['a Secret', { kind: 'Secret', metadata: { name: 'shop', namespace: 'team' }, data: { a: 'czNjcjN0' } }],
  ['another name', { kind: 'ConfigMap', metadata: { name: 'other', namespace: 'team' } }],
  ['another namespace', { kind: 'ConfigMap', metadata: { name: 'shop', namespace: 'other' } }],
] as const) {
  t.test(`an API that answers with ${title} instead of what was judged is not accepted`, async (t) => {
    const { world, resource } = applied({})
    const readObject = async () => JSON.stringify({ apiVersion: 'v1', ...answer })
    const ending = commitObject(resource, { ...world, cluster: { ...world.cluster, readObject } }, ATTEMPT)
    await t.rejects(ending, {
      reason: 'ReferenceForbidden',
      message: /^The answer for ConfigMap team\/shop /,
    })
    t.strictSame(world.pushed, [])
  })
}
