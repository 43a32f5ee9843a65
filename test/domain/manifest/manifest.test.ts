import t from 'tap'
import { parse } from 'yaml'
import {
  MANIFEST_LIMIT,
  OBJECT_LIMIT,
  renderManifest,
  type RequestedObject,
} from '../../../functions/domain/manifest/manifest.ts'

const ASKED: RequestedObject = { apiVersion: 'v1', kind: 'ConfigMap', name: 'settings', namespace: 'acme' }
const SETTINGS = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'settings', namespace: 'acme' } }

function render(live: unknown, path = 'settings.yaml', asked = ASKED): string {
  const text = typeof live === 'string' ? live : JSON.stringify(live)
  return new TextDecoder('utf-8', { fatal: true }).decode(renderManifest(text, asked, path))
}

const LIVE = `{"status":{"x":1},"data":{"b":"1","10":"x","9":"line\\nline\\n"},"kind":"ConfigMap","big":9223372036854775807,
"metadata":{"name":"settings","uid":"u","resourceVersion":"7","generation":2,"creationTimestamp":"2026-01-01T00:00:00Z",
"selfLink":"/x","ownerReferences":[{"uid":"o"}],"deletionTimestamp":"2026-01-02T00:00:00Z","deletionGracePeriodSeconds":30,
"managedFields":[{"manager":"kubectl"}],"namespace":"acme","labels":{"uid":"kept","status":"kept"},"finalizers":["x/y"],
"annotations":{"kubectl.kubernetes.io/last-applied-configuration":"{}","a":"kept","commitlet.dev/requested-at":"now",
"commitlet.dev.example.com/x":"kept"}},"apiVersion":"v1","spec":{"status":"kept","metadata":{"uid":"kept"}}}`

t.test('fields of the running object are removed, identity comes first, the rest is unchanged', (t) => {
  t.equal(
    render(LIVE),
    `apiVersion: v1
kind: ConfigMap
metadata:
  name: settings
  namespace: acme
  labels:
    uid: kept
    status: kept
  finalizers:
  - x/y
  annotations:
    a: kept
    commitlet.dev.example.com/x: kept
data:
  b: "1"
  "10": x
  "9": |
    line
    line
big: 9223372036854775807
spec:
  status: kept
  metadata:
    uid: kept
`,
  )
  t.end()
})

t.test('a path that ends in .json, in any case, gets JSON and any other gets YAML', (t) => {
  const paths = {
    'a.json': true,
    'b/c.JSON': true,
    'a.yaml': false,
    json: false,
    'a.json.txt': false,
    'a.jsonl': false,
  }
  for (const [path, json] of Object.entries(paths))
    t.equal(render(LIVE, path).startsWith('{\n  "apiVersion": "v1"'), json, path)
  t.match(render(LIVE, 'a.json'), '"big": 9223372036854775807,\n')
  t.end()
})

t.test('the same object has the same bytes, also when its manifest is the object', (t) => {
  for (const path of ['a.yaml', 'a.json']) {
    t.equal(render(LIVE, path), render(LIVE, path), path)
    t.equal(render(render(LIVE, 'a.json'), path), render(LIVE, path), `${path}, read again`)
  }
  t.end()
})

t.test('an annotations map that is left empty goes too', (t) => {
  const annotations = {
    'commitlet.dev/requester': '{}',
    'kubectl.kubernetes.io/last-applied-configuration': '{}',
  }
  for (const found of [annotations, {}]) {
    const live = { ...SETTINGS, metadata: { ...SETTINGS.metadata, annotations: found } }
    t.strictSame(parse(render(live)), SETTINGS)
  }
  t.end()
})

t.test('an object other than the requested one is refused, naming what differs', (t) => {
  const { metadata } = SETTINGS
  const cases: readonly (readonly [string, unknown, RegExp])[] = [
    ['apiVersion', { ...SETTINGS, apiVersion: 'v2' }, /its apiVersion is not "v1"/],
    ['kind', { ...SETTINGS, kind: 'Pod' }, /its kind is not "ConfigMap"/],
    [
      'name',
      { ...SETTINGS, metadata: { ...metadata, name: 'other' } },
      /its metadata.name is not "settings"/,
    ],
    [
      'namespace',
      { ...SETTINGS, metadata: { ...metadata, namespace: 'b' } },
      /its metadata.namespace is not "acme"/,
    ],
    ['no metadata', { apiVersion: 'v1', kind: 'ConfigMap' }, /its metadata.name/],
    ['a Status', { apiVersion: 'v1', kind: 'Status', metadata: {} }, /its kind/],
    ['a list', [SETTINGS], /its apiVersion/],
    ['a string', '"x"', /its apiVersion/],
  ]
  for (const [title, live, message] of cases) {
    t.throws(() => render(live), { reason: 'ReferenceForbidden', message }, title)
    t.throws(
      () => render(live),
      { message: /^The answer for ConfigMap acme\/settings is another object: / },
      title,
    )
  }
  t.end()
})

t.test('a cluster-scoped object needs no namespace', (t) => {
  const live = { ...SETTINGS, metadata: { name: 'settings' } }
  const rendered = 'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: settings\n'
  t.equal(render(live, 'x', { ...ASKED, namespace: undefined }), rendered)
  t.throws(() => render(SETTINGS, 'x', { ...ASKED, namespace: undefined }), {
    reason: 'ReferenceForbidden',
    message: /^The answer for ConfigMap settings is another object: its metadata.namespace is not empty/,
  })
  t.end()
})

t.test('an object without a namespace does not belong to a namespace', (t) => {
  for (const namespace of [undefined, null, '', 0, ['acme']]) {
    const live = { ...SETTINGS, metadata: { name: 'settings', namespace } }
    const refused = { reason: 'ReferenceForbidden', message: /its metadata\.namespace is not "acme"/ }
    t.throws(() => render(live), refused, String(namespace))
  }
  t.end()
})

t.test('a Secret is never rendered, whatever was asked for', (t) => {
  const secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: SETTINGS.metadata,
    data: { k: 'aHVudGVyMg==' },
  }
  const cases: readonly (readonly [string, unknown, Partial<RequestedObject>])[] = [
    ['asked as such', secret, { kind: 'Secret' }],
    ['instead of another', secret, {}],
    ['in a list', { ...SETTINGS, kind: 'List', items: [SETTINGS, secret] }, { kind: 'List' }],
    ['in a list of lists', { ...SETTINGS, kind: 'List', items: [{ items: [secret] }] }, { kind: 'List' }],
    ['a typed list', { ...SETTINGS, kind: 'SecretList', items: [{ data: {} }] }, { kind: 'SecretList' }],
  ]
  for (const [title, live, asked] of cases) {
    const refused = {
      reason: 'ReferenceForbidden',
      message: /^(?!.*aHVu).*a Secret is never committed in clear/,
    }
    t.throws(() => render(live, 'x.yaml', { ...ASKED, ...asked }), refused, title)
  }
  const other = { ...SETTINGS, apiVersion: 'example.com/v1', kind: 'Secret' }
  t.match(render(other, 'x', { ...ASKED, apiVersion: 'example.com/v1', kind: 'Secret' }), 'kind: Secret')
  t.end()
})

t.test('an answer that is not JSON says so, naming the object', (t) => {
  t.throws(() => render('<html>'), {
    reason: 'ProviderUnavailable',
    message: /^The answer for ConfigMap acme\/settings is not valid JSON/,
  })
  t.end()
})

t.test('a manifest has at most 10 MiB', (t) => {
  const around = render({ ...SETTINGS, x: 'z' }).length - 1
  const of = (bytes: number): unknown => ({ ...SETTINGS, x: 'z'.repeat(bytes - around) })
  t.equal(MANIFEST_LIMIT, 10_485_760)
  t.equal(render(of(MANIFEST_LIMIT)).length, MANIFEST_LIMIT)
  t.throws(() => render(of(MANIFEST_LIMIT + 1)), {
    reason: 'NotSupported',
    message: /^ConfigMap acme\/settings takes more than 10 MiB/,
  })
  t.end()
})

/** Milliseconds: ten times what may block the event loop, so that a busy machine does not fail the test. */
const HELD_MS = 1_000

function millisecondsOf(work: () => void): number {
  const { user, system } = process.cpuUsage()
  work()
  const spent = process.cpuUsage({ user, system })
  return (spent.user + spent.system) / 1_000
}

t.test('an object whose text is too long is not supported, and not parsed', (t) => {
  const head = JSON.stringify(SETTINGS).slice(0, -1)
  const ofLength = (length: number): string => `${head},"status":"${'x'.repeat(length - head.length - 13)}"}`
  t.equal(ofLength(OBJECT_LIMIT).length, OBJECT_LIMIT)
  t.strictSame(parse(render(ofLength(OBJECT_LIMIT))), SETTINGS, 'at the bound it is read')
  const refused = {
    reason: 'NotSupported',
    message: /^ConfigMap acme\/settings takes more than 12 MiB as the API server sends it/,
  }
  t.throws(() => render(ofLength(OBJECT_LIMIT + 1)), refused)
  // What is not JSON fails as soon as it is parsed.
  const broken = '{},'.repeat((10 * OBJECT_LIMIT) / 3)
  const spent = millisecondsOf(() => t.throws(() => render(broken), refused))
  t.ok(spent < HELD_MS, `${spent} ms`)
  t.end()
})

for (const [title, value] of [
  ['numbers', '0'],
  ['empty objects', '{}'],
  ['fields', '{"f:name":{}}'],
] as const) {
  t.test(`an object of too many ${title} is not supported, before it blocks the event loop for long`, (t) => {
    const metadata = JSON.stringify(SETTINGS.metadata)
    const count = Math.floor((OBJECT_LIMIT - 200) / (value.length + 1))
    const live = `{"apiVersion":"v1","kind":"ConfigMap","metadata":${metadata},"data":[${`${value},`.repeat(count)}0]}`
    const refused = {
      reason: 'NotSupported',
      message: /ConfigMap acme\/settings has more than the 100,000 values/,
    }
    const spent = millisecondsOf(() => t.throws(() => render(live), refused))
    t.ok(spent < HELD_MS, `${spent} ms`)
    t.end()
  })
}

for (const path of ['a.yaml', 'a.json']) {
  t.test(`an object that would grow to 100 MB is refused without growing the memory (${path})`, (t) => {
    const data = '{"a":'.repeat(900) + `[${'"leaf",'.repeat(60_000)}"leaf"]` + '}'.repeat(900)
    const live = `{"apiVersion":"v1","kind":"ConfigMap","metadata":${JSON.stringify(SETTINGS.metadata)},"data":${data}}`
    const before = process.memoryUsage().rss
    t.throws(() => render(live, path), { reason: 'NotSupported', message: /10 MiB/ })
    const grown = (process.memoryUsage().rss - before) / 2 ** 20
    t.ok(grown < 80, `${grown.toFixed(0)} MiB`)
    t.end()
  })
}
