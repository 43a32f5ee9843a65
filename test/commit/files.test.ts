import t from 'tap'
import { commitObject } from '../../functions/commit/commit-object.ts'
import type { FileChange } from '../../functions/domain/commit/change.ts'
import { Failure } from '../../functions/domain/failure.ts'
import type { World } from '../../functions/world.ts'
import { ATTEMPT, gitCommit, memoryWorld } from '../harness/memory-world.ts'
import { parseResource } from '../domain/fixtures/parsed.ts'

const MAP = { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop' }

/** A world with an object that the tests refer to. */
function stage() {
  const world = memoryWorld()
  world.cluster.apply({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'shop', namespace: 'team' },
    data: { colour: 'blue', 'values.yaml': 'a: 1\r\n# no end', count: '3' },
    binaryData: { logo: '/wAB' },
  })
  const read: string[] = []
  const cluster: World['cluster'] = {
    ...world.cluster,
    readObject: (ref, served) => {
      read.push(ref.name)
      return world.cluster.readObject(ref, served)
    },
  }
  /** Makes one attempt at a commit of these files. */
  async function commit(files: readonly object[], spec: object = {}) {
    const stored = world.cluster.apply(gitCommit({ resourceRef: undefined, files, ...spec }))
    const resource = parseResource(stored)
    if (resource.kind !== 'GitCommit') throw new Error('not a GitCommit')
    const outcome = await commitObject(resource, { ...world, cluster }, ATTEMPT)
    return { outcome, change: world.pushed.at(-1)?.change }
  }
  return { world, read, commit }
}

async function shown(file: FileChange | undefined, before = ''): Promise<string | undefined> {
  const bytes = file?.content ?? (await file?.edit?.(Buffer.from(before)))
  return bytes === undefined ? undefined : Buffer.from(bytes).toString('latin1')
}

const OBJECT = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: shop\n  namespace: team\n'

for (const [title, file, before, after] of [
  ['an object as YAML', { path: 'a.yaml', resourceRef: MAP }, '', new RegExp(`^${OBJECT}data:`)],
  ['an object as JSON', { path: 'a.json', resourceRef: MAP }, '', /^\{\n {2}"apiVersion": "v1"/],
  ['a string', { path: 'a', resourceRef: { ...MAP, field: '.data["values.yaml"]' } }, '', 'a: 1\r\n# no end'],
  ['bytes', { path: 'a', resourceRef: { ...MAP, field: '.binaryData.logo' } }, '', '\xff\x00\x01'],
  [
    'a mapping',
    { path: 'a.json', resourceRef: { ...MAP, field: '.binaryData' } },
    '',
    '{\n  "logo": "/wAB"\n}\n',
  ],
  ['a text', { path: 'a', content: 'no end ü' }, '', 'no end \xc3\xbc'],
  ['an empty text', { path: 'a', content: '' }, '', ''],
  ['a removal', { path: 'a', remove: true }, '', undefined],
  [
    'a value in YAML',
    { path: 'a.yaml', set: [{ field: '.a', value: '2' }] },
    '# c\na: 1 # d\n',
    '# c\na: "2" # d\n',
  ],
  [
    'a value in JSON',
    { path: 'a.json', set: [{ field: '.a', value: 2 }] },
    '{"a": 1,\n"b":0}',
    '{"a": 2,\n"b":0}',
  ],
  [
    'a value of an object',
    { path: 'a.yaml', set: [{ field: '.a', valueFrom: { resourceRef: { ...MAP, field: '.data.colour' } } }] },
    'a: 1\n',
    'a: blue\n',
  ],
  [
    'values of several documents',
    {
      path: 'a.yaml',
      set: [
        { field: '.a', value: 1, document: { index: 1 } },
        { field: '.a', value: 2, document: { field: '.kind', value: 'X' } },
        { field: '.b', value: 3, document: { index: 1 } },
      ],
    },
    'kind: X\na: 0\n---\na: 0\nb: 0\n',
    'kind: X\na: 2\n---\na: 1\nb: 3\n',
  ],
] as const) {
  t.test(`a file can be ${title}`, async (t) => {
    const { change } = await stage().commit([file])
    const text = await shown(change?.files[0], before)
    if (after instanceof RegExp) t.match(text, after)
    else t.equal(text, after)
    t.equal(change?.files[0]?.path, file.path)
  })
}

t.test('all files are in one change, and an object is read once for all of them', async (t) => {
  const { commit, read } = stage()
  const { outcome, change } = await commit([
    { path: 'a', resourceRef: MAP },
    { path: 'b', resourceRef: { ...MAP, namespace: 'team', field: '.data.colour' } },
    { path: 'c.yaml', set: [{ field: '.a', valueFrom: { resourceRef: { ...MAP, field: '.data.count' } } }] },
    { path: 'd', remove: true },
  ])
  t.same(
    change?.files.map(({ path }) => path),
    ['a', 'b', 'c.yaml', 'd'],
  )
  t.same(read, ['shop'])
  t.match(outcome, { message: /to the branch main at a and 3 more\.$/, commit: { path: 'a' } })
})

t.test('names are filled in before the change is made, and its Secret is asked about them', async (t) => {
  const { commit, world } = stage()
  const files = [{ path: '{namespace}/{kind}/{name}.yaml', resourceRef: MAP }]
  const { change } = await commit(files, { branch: 'team/{name}', message: 'Of {namespace}' })
  t.match(change, {
    branch: 'team/shop',
    message: /^Of team\n/,
    files: [{ path: 'team/ConfigMap/shop.yaml' }],
  })
  const secret = world.cluster.get('Secret', 'team', 'git')
  const annotations = { 'commitlet.dev/allowed-paths': 'other' }
  if (secret !== undefined)
    world.cluster.apply({ ...secret, metadata: { name: 'git', namespace: 'team', annotations } })
  await t.rejects(commit(files), {
    reason: 'ReferenceForbidden',
    message: /^spec\.files\[0\]\.path is not below/,
  })
})

t.test('an edit of the same bytes is made once, and again after it has failed', async (t) => {
  const { commit, world } = stage()
  const seen: string[] = []
  const editFile: World['editFile'] = async (before, _edit, { namespace }) => {
    seen.push(`${namespace} ${Buffer.from(before).toString()}`)
    if (seen.length === 1) throw new Failure('Timeout', 'Too slow.')
    return Buffer.from(`${seen.length}`)
  }
  Object.assign(world, { editFile })
  const { change } = await commit([{ path: 'a.yaml', set: [{ field: '.a', value: 1 }] }])
  await t.rejects(shown(change?.files[0], 'a'), { reason: 'Timeout', message: 'Too slow.' })
  t.same([await shown(change?.files[0], 'a'), await shown(change?.files[0], 'a')], ['2', '2'])
  t.equal(await shown(change?.files[0], 'b'), '3')
  t.same(seen, ['team a', 'team a', 'team b'])
})

t.test('an edit that is being made ends with its attempt', async (t) => {
  const { commit, world } = stage()
  let making: AbortSignal | undefined
  const editFile: World['editFile'] = (_before, _edit, { signal }) => {
    making = signal
    return new Promise(() => undefined)
  }
  const ended = new Failure('Timeout', 'Its session had to end.')
  const push: World['push'] = async ({ files: [file] }) => {
    void file?.edit?.(Buffer.from('a: 0'))
    throw ended
  }
  Object.assign(world, { editFile, push })
  await t.rejects(commit([{ path: 'a.yaml', set: [{ field: '.a', value: 1 }] }]), ended)
  t.equal(making?.aborted, true)
})

t.test('a control file needs the Secret to cover it, whatever is done to it', async (t) => {
  const set = [{ field: '.a', value: 1 }]
  for (const file of [{ remove: true }, { content: 'x' }, { set }, { resourceRef: MAP }]) {
    const files = [
      { path: 'a', content: '' },
      { path: '.github/workflows/a.yaml', ...file },
    ]
    await t.rejects(stage().commit(files), {
      reason: 'ReferenceForbidden',
      message: /^spec\.files\[1\]\.path has the part "\.github"/,
    })
  }
})

t.test('what cannot be read is reported for every entry at once, and nothing is pushed', async (t) => {
  const { commit, world } = stage()
  const files = [
    { path: 'a', resourceRef: { ...MAP, name: 'none' } },
    { path: 'b', resourceRef: MAP },
    { path: 'c', resourceRef: { ...MAP, field: '.data.none' } },
  ]
  const failure = await commit(files).catch((error: unknown) => error)
  if (!(failure instanceof Failure)) return t.fail('nothing was thrown')
  t.equal(failure.reason, 'ReferenceNotFound')
  t.match(
    failure.message,
    /^spec\.files\[0\]: There is no ConfigMap team\/none.* spec\.files\[2\]: ConfigMap shop has no field/,
  )
  t.match(failure.message, /"colour", "values\.yaml", "count"/)
  t.notMatch(failure.message, /blue/)
  t.same(world.pushed, [])
})

t.test('a requester without a right is refused with the place in the spec', async (t) => {
  const { commit, world, read } = stage()
  world.cluster.mayAccess = (_user, { name }) => name !== 'other'
  const valueFrom = { resourceRef: { ...MAP, name: 'other', field: '.data.a' } }
  const files = [
    { path: 'a', resourceRef: MAP },
    { path: 'b.yaml', set: [{ field: '.a', valueFrom }] },
  ]
  await t.rejects(commit(files), {
    reason: 'ReferenceForbidden',
    message: /^spec\.files\[1\]\.set\[0\]\.valueFrom\.resourceRef is the ConfigMap other/,
  })
  t.same(read, [])
})

t.test('files of more than 10 MiB together are refused', async (t) => {
  const { commit, world } = stage()
  const big = { apiVersion: 'v1', kind: 'ConfigMap', data: { a: 'x'.repeat(3 * 1024 * 1024) } }
  for (const name of ['b0', 'b1', 'b2', 'b3'])
    world.cluster.apply({ ...big, metadata: { name, namespace: 'team' } })
  const files = ['b0', 'b1', 'b2', 'b3'].map((name) => ({ path: name, resourceRef: { ...MAP, name } }))
  t.match(await commit(files.slice(0, 3)), { outcome: { reason: 'Succeeded' } })
  await t.rejects(commit(files), { reason: 'NotSupported', message: /more than 10 MiB together/ })
})

t.test(
  'files of more than 10 MiB and values of more than 2 MiB are refused before they are all in memory',
  async (t) => {
    const { commit, world, read } = stage()
    const names = Array.from({ length: 60 }, (_, i) => `b${i}`)
    for (const name of names)
      world.cluster.apply({
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name, namespace: 'team' },
        data: { a: 'x'.repeat(1024 * 1024) },
      })
    const files = names.map((name) => ({ path: name, resourceRef: { ...MAP, name } }))
    await t.rejects(commit(files), {
      reason: 'NotSupported',
      message: /^The files of spec\.files take more than 10 MiB/,
    })
    t.ok(read.length < 30, `${read.length} objects`)
    const values = names.map((name) => ({
      field: `.${name}`,
      valueFrom: { resourceRef: { ...MAP, name, field: '.data' } },
    }))
    read.length = 0
    const edited = values.map((value, i) => ({ path: `${i}.yaml`, set: [value] }))
    await t.rejects(commit(edited), {
      reason: 'NotSupported',
      message: /^The files of spec\.files take more than 10 MiB/,
    })
    t.ok(read.length < 30, `${read.length} objects`)
    await t.rejects(commit([{ path: 'a.yaml', set: values }]), {
      reason: 'NotSupported',
      message: /a\.yaml gets values in set that take more than 2 MiB together/,
    })
  },
)

const MOVED = "Project 'acme/shop' was moved to 'acme/new'.\n"

t.test('nothing is written by which a hook could say that the repository has moved', async (t) => {
  const { commit, world } = stage()
  const readme = `# Shop\n${MOVED}`
  const config = { apiVersion: 'v1', kind: 'ConfigMap' }
  world.cluster.apply({
    ...config,
    metadata: { name: 'moved', namespace: 'team' },
    data: { small: readme, large: 'x\n'.repeat(100_000) + readme },
  })
  const of = { ...MAP, name: 'moved' }
  const refused = { reason: 'NotSupported', retry: 'slow', message: /content of a has a line that says/ }
  for (const file of [
    { resourceRef: of },
    { resourceRef: { ...of, field: '.data.small' } },
    { resourceRef: { ...of, field: '.data.large' } },
  ])
    await t.rejects(commit([{ path: 'a', ...file }]), refused)
  t.same(world.pushed, [])
  const { change } = await commit([
    {
      path: 'a',
      set: [{ field: '.a', valueFrom: { resourceRef: { ...of, field: '.data.small' } } }],
    },
  ])
  await t.rejects(shown(change?.files[0], 'a: 1\n'), refused)
})

t.test('a file that says so already can be changed', async (t) => {
  const { commit } = stage()
  const { change } = await commit([{ path: 'a.yaml', set: [{ field: '.a', value: 2 }] }])
  const before = `b: |\n  ${MOVED}a: 1\n`
  t.equal(await shown(change?.files[0], before), before.replace('1', '2'))
})

t.test('what an edit keeps in memory counts while it waits for its push', async (t) => {
  const { commit } = stage()
  const { change } = await commit([{ path: 'a.yaml', set: [{ field: '.a', value: 'x'.repeat(10_000) }] }])
  t.ok((change?.files[0]?.keeps ?? 0) >= 10_000)
})

t.test('a branch that holds all of several files says so', async (t) => {
  const { commit, world } = stage()
  world.land = async () => ({ outcome: 'unchanged', sha: 'a'.repeat(40), branch: 'main' })
  const files = ['a', 'b'].map((path) => ({ path, content: path }))
  t.match((await commit(files)).outcome, {
    reason: 'UpToDate',
    message: /already holds all 2 files; no commit/,
  })
})
