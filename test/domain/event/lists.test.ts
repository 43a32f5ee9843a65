import t from 'tap'
import { member } from '../../../functions/domain/json-value.ts'
import type { Hint } from '../../../functions/domain/event/hint.ts'
import { readList } from '../../../functions/domain/event/json-elements.ts'
import { cpuTime } from '../../harness/cpu-time.ts'
import { mayBeEventList, readPosted } from '../../../functions/domain/event/posted.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const BATCH = { 'content-type': 'application/cloudevents-batch+json; charset=utf-8' }
const MIB = 1024 * 1024

/** Reads a list; counts the turns that the event loop gets. */
async function read(headers: Readonly<Record<string, string>>, body: string) {
  let turns = 0
  const rest = async () => {
    turns += 1
  }
  return { ...(await readPosted(headers, Buffer.from(body), rest)), turns: () => turns }
}

function namesOf(hints: readonly Hint[]) {
  return hints.map((hint) =>
    hint.about === 'resource' ? `${hint.ref.kind} ${hint.ref.namespace}/${hint.ref.name}` : hint,
  )
}

/** An audit event as an API server of 1.36 logs it for a resource that was created, with the policy of manifests/. */
function audited(changes: Readonly<Record<string, unknown>> = {}) {
  return {
    level: 'Metadata',
    auditID: '0a4f8c4e-6f0e-4c49-9d5b-0f6c1d1f7a11',
    stage: 'ResponseComplete',
    requestURI: '/apis/commitlet.dev/v1/namespaces/shop/gitcommits?fieldManager=kubectl-client-side-apply',
    verb: 'create',
    user: { username: 'dev', groups: ['developers'] },
    objectRef: {
      resource: 'gitcommits',
      namespace: 'shop',
      name: 'settings',
      apiGroup: 'commitlet.dev',
      apiVersion: 'v1',
    },
    responseStatus: { metadata: {}, code: 201 },
    ...changes,
  }
}

const TARGET = audited().objectRef
const generated = (metadata: object) => ({
  objectRef: { ...TARGET, name: undefined },
  requestObject: { metadata: { generateName: 'settings-' } },
  responseObject: {
    apiVersion: 'commitlet.dev/v1',
    kind: 'GitCommit',
    metadata: { generation: 1, ...metadata },
    status: { observedGeneration: -1, phase: 'Pending' },
  },
})
const FOUND = ['GitCommit shop/settings']
const OTHER = [{ about: 'object', object: { namespace: 'shop', name: 'settings' } }]
const SECRET = { ...TARGET, apiGroup: undefined, resource: 'secrets' }

function list(events: readonly unknown[]): string {
  return JSON.stringify({ kind: 'EventList', apiVersion: 'audit.k8s.io/v1', metadata: {}, items: events })
}

for (const [title, changes, expected] of [
  ['a resource is created', {}, FOUND],
  ['with generateName', generated({ name: 'settings-x7k2p' }), ['GitCommit shop/settings-x7k2p']],
  ['with generateName, at a level without the answer', { ...generated({}), responseObject: undefined }, []],
  ['a pull request', { objectRef: { ...TARGET, resource: 'pullrequests' } }, ['PullRequest shop/settings']],
  ['an update', { verb: 'update', responseStatus: { code: 200 } }, FOUND],
  ['a patch', { verb: 'patch', responseStatus: { code: 200 } }, FOUND],
  ['a patch that creates', { verb: 'patch' }, FOUND],
  ['a later version of the group', { objectRef: { ...TARGET, apiVersion: 'v2' } }, FOUND],
  [
    'a change that is handled already',
    {
      verb: 'update',
      responseObject: { ...generated({}).responseObject, status: { observedGeneration: 1 } },
    },
    [],
  ],
  ['an earlier stage', { stage: 'RequestReceived' }, []],
  ['a panic', { stage: 'Panic' }, []],
  ['a deletion', { verb: 'delete', responseStatus: { code: 200 } }, []],
  ['a read', { verb: 'get', responseStatus: { code: 200 } }, []],
  ['a request that was denied', { responseStatus: { code: 422 } }, []],
  ['a conflict', { verb: 'update', responseStatus: { code: 409 } }, []],
  ['no answer', { responseStatus: undefined }, []],
  ['a dry run', { requestURI: `${audited().requestURI}&dryRun=All` }, []],
  ['a dry run that is hidden', { requestURI: '/apis?%64ryRun=All' }, []],
  ['a status', { verb: 'patch', objectRef: { ...TARGET, subresource: 'status' } }, []],
  ['a name that climbs', { objectRef: { ...TARGET, name: '../x' } }, []],
  ['a namespace that climbs', { objectRef: { ...TARGET, namespace: '..' } }, []],
  ['no namespace', { objectRef: { ...TARGET, namespace: undefined } }, []],
  ['a Secret is created', { objectRef: SECRET }, OTHER],
  ['a Secret is fixed', { verb: 'patch', objectRef: SECRET, responseStatus: { code: 200 } }, OTHER],
  ['a Secret is deleted', { verb: 'delete', objectRef: SECRET }, []],
  [
    'an object of the cluster',
    { objectRef: { resource: 'namespaces', name: 'shop', apiVersion: 'v1' } },
    [{ about: 'object', object: { name: 'shop' } }],
  ],
  ['prototype keys', { objectRef: undefined, __proto__: { objectRef: TARGET } }, []],
] as const) {
  t.test(`of an audit event the function takes what was stored: ${title}`, async (t) => {
    const { form, hints, skipped } = await read(JSON_TYPE, list([audited(changes)]))
    t.strictSame(namesOf(hints), expected)
    t.match({ form, skipped }, { form: 'list', skipped: 0 })
  })
}

t.test('an audit list is read whatever the order and the layout of its members', async (t) => {
  const items = JSON.stringify([audited(), 7, null, 'x', []], undefined, 2)
  const type = '"apiVersion": "audit.k8s.io/v1", "kind": "EventList"'
  for (const body of [
    `{${type}, "items" : ${items}}`,
    `{"items":${items},\n${type}}`,
    `{"a":{"items":[1]},"items":${items},${type}}`,
  ])
    t.strictSame(namesOf((await read(JSON_TYPE, body)).hints), FOUND)
  for (const body of [`{${type}}`, `{${type},"items":[ ]}`, `{${type},"items":null}`])
    t.strictSame((await read(JSON_TYPE, body)).hints, [])
})

function applied(name: string) {
  const data = {
    apiVersion: 'commitlet.dev/v1',
    kind: 'GitCommit',
    namespace: 'shop',
    name,
    uid: 'u-1',
    generation: 1,
  }
  return { specversion: '1.0', id: name, source: '/a', type: 'dev.commitlet.gitcommit.applied', data }
}

const PING = { specversion: '1.0', id: '1', source: '/a', type: 'dev.knative.sources.ping' }

t.test('a batch is read event by event', async (t) => {
  const base64 = {
    ...applied('b'),
    data: undefined,
    data_base64: Buffer.from(JSON.stringify(applied('b').data)).toString('base64'),
  }
  const { form, hints } = await read(BATCH, JSON.stringify([applied('a'), base64, PING]))
  t.strictSame(namesOf(hints), ['GitCommit shop/a', 'GitCommit shop/b', { about: 'everything' }])
  t.equal(form, 'batch')
  t.strictSame((await read(BATCH, ' [ ] ')).hints, [])
})

const DEEP = `${'['.repeat(1_001)}${']'.repeat(1_001)}`

for (const [title, headers, body, message] of [
  ['JSON that is no list', JSON_TYPE, '{"kind":"Pod"}', /not a CloudEvent/],
  ['a list of another kind', JSON_TYPE, list([]).replace('EventList', 'PodList'), /not a CloudEvent/],
  ['a later version of audit events', JSON_TYPE, list([]).replace('/v1', '/v2'), /not a CloudEvent/],
  ['nothing', JSON_TYPE, '', /not JSON/],
  ['a list that was cut', JSON_TYPE, list([audited(), audited()]).slice(0, -50), /cut on its way/],
  ['a list that was cut between two events', JSON_TYPE, list([audited()]).slice(0, -2), /cut on its way/],
  ['a list with a loose end', JSON_TYPE, `${list([audited()])}]`, /not JSON/],
  ['an element that is missing', JSON_TYPE, list([]).replace('[]', '[{},,{}]'), /not JSON/],
  ['an element that is missing at the end', JSON_TYPE, list([]).replace('[]', '[{},]'), /not JSON/],
  ['brackets that do not fit', JSON_TYPE, list([]).replace('[]', '[{]}]'), /not JSON/],
  ['two elements without a comma', JSON_TYPE, list([]).replace('[]', '[{} {}]'), /not JSON/],
  ['broken UTF-8', JSON_TYPE, list(['x']).replace('x', '\ud800\\x'), /not JSON/],
  ['a list after the list', BATCH, '[][]', /not JSON/],
  ['a large text around the list', JSON_TYPE, `{"a":"${'x'.repeat(MIB)}","items":[]}`, /not a list/],
  ['10,001 events', JSON_TYPE, list(Array(10_001).fill(0)), /more than 10,000/],
  ['500,001 values', JSON_TYPE, list(Array(6).fill(Array(90_000).fill(0))), /more than 500,000/],
  ['a batch that is an event', BATCH, JSON.stringify(applied('a')), /has to be a list/],
  ['a batch with something else', BATCH, JSON.stringify([applied('a'), {}]), /not a CloudEvent/],
  ['a batch in a batch', BATCH, JSON.stringify([[applied('a')]]), /not a CloudEvent/],
  ['a batch with 1,001 levels', BATCH, `[${DEEP}]`, /too large/],
] as const) {
  t.test(`one sentence refuses ${title}`, async (t) => {
    const failure: unknown = await read(headers, body).catch((error: unknown) => error)
    t.match(failure, { reason: 'InvalidSpec', message })
    t.notMatch(failure, { message: /\. / }, 'one sentence')
  })
}

t.test('an audit event that is too large is skipped, because the whole list would come again', async (t) => {
  for (const large of [{ a: 'x'.repeat(4 * MIB) }, Array(100_001).fill(0)]) {
    const { hints, skipped } = await read(JSON_TYPE, list([large, audited()]))
    t.strictSame(namesOf(hints), FOUND)
    t.equal(skipped, 1)
  }
})

/** So much text of this unit. */
function filled(unit: string, bytes: number): string {
  return unit.repeat(Math.floor(bytes / unit.length))
}

for (const [title, items] of [
  ['of audit events', filled(`${JSON.stringify(audited())},`, 5 * MIB)],
  ['of as many values as are parsed', `[${filled('"a",', 390_000)}1],`.repeat(5)],
  ['of objects', `[${filled('{"aaaaaaaaaaaaaaaaaaaa":1},', 1.3 * MIB)}1],`.repeat(5)],
  ['of long strings', `"${filled('\\u0041', 3.9 * MIB)}",`.repeat(2)],
  ['of 10,000 small elements', filled('"aaaaaaaaaa",', 130_000 - 13)],
  ['of brackets', filled('[', 10 * MIB)],
  ['of blanks', filled(' ', 10 * MIB)],
] as const) {
  t.test(`a list ${title} does not hold the event loop for long`, async (t) => {
    const body = Buffer.from(list([]).replace('[]', `[${items}1]`))
    let [last, longest] = [cpuTime(), 0]
    const look = (): void => {
      longest = Math.max(longest, cpuTime() - last)
      last = cpuTime()
    }
    const rest = async (): Promise<void> => look()
    await readPosted(JSON_TYPE, body, rest).catch(() => undefined)
    look()
    // Ten times what may hold the event loop: a busy machine does not fail this.
    t.ok(longest < 1_000, `${longest.toFixed(0)} ms`)
    t.comment(`${longest.toFixed(0)} ms at a time`)
  })
}

t.test('a list of 10 MiB is read in parts', async (t) => {
  const event = audited({ responseObject: { spec: { message: 'x'.repeat(9_000) } } })
  const body = list(Array(1_000).fill(event))
  t.ok(body.length > 9 * MIB)
  const { hints, turns } = await read(JSON_TYPE, body)
  t.equal(hints.length, 1_000)
  t.ok(turns() > 30, `${turns()} turns`)
})

/** Lists of these values in several places of a text, each with its key. */
function placesOf(items: readonly unknown[]) {
  return [
    [undefined, items],
    ['items', { items }],
    ['items', { a: 'items', b: [items], c: { items }, items, d: items }],
  ] as const
}

t.test('the elements of any list are those that JSON.parse finds', async (t) => {
  const brackets = ['[', ']}', ',', '"', '\\', '\\"', 'a"b']
  const values = [0, ...brackets, { a: [1, { b: ',]' }] }, [[], [',']], null, true, -1.5e3, 'é😀', '']
  const lists = values.map((_, from) => values.slice(from)).flatMap(placesOf)
  const layouts = lists.flatMap(([key, whole]) =>
    [undefined, 1, '\t'].map((space) => [key, JSON.stringify(whole, undefined, space)] as const),
  )
  for (const [key, text] of layouts) {
    const found = await readList(Buffer.from(text), key, () => Promise.resolve())
    const elements: unknown[] = []
    for await (const element of found.elements) elements.push(element)
    const whole: unknown = JSON.parse(text)
    t.strictSame(elements, key === undefined ? whole : member(whole, key))
  }
})

t.test('JSON without the headers of a CloudEvent may be a list', async (t) => {
  t.ok(mayBeEventList({ 'content-type': 'application/json; charset=utf-8' }))
  t.notOk(mayBeEventList({ 'content-type': 'application/json', 'ce-specversion': '1.0' }))
  t.notOk(mayBeEventList({ 'content-type': 'application/cloudevents+json' }))
  t.notOk(mayBeEventList({}))
})
