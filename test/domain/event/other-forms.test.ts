import t from 'tap'
import { readEvent } from '../../../functions/domain/event/cloud-event.ts'
import { failureOf } from '../fixtures/thrown.ts'

const CE = {
  'ce-specversion': '1.0',
  'ce-id': '1',
  'ce-source': 'https://10.0.0.1',
  'content-type': 'application/json',
}

function read(type: string, data: unknown) {
  return readEvent({ ...CE, 'ce-type': `dev.knative.${type}` }, JSON.stringify(data))
}

/** As an ApiServerSource sends it in resource mode: the whole object. */
function resource(metadata: object = {}, status?: object) {
  return {
    apiVersion: 'commitlet.dev/v1',
    kind: 'GitCommit',
    metadata: { namespace: 'shop', name: 'settings', uid: 'u-1', generation: 2, ...metadata },
    spec: { message: 'x' },
    ...(status === undefined ? {} : { status }),
  }
}

const CONFIG_MAP = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'shop', name: 'settings' },
  data: { token: 'not taken' },
}
const reference = (object: { readonly metadata: object }) => ({ ...object.metadata, ...typeOf(object) })
const RESOURCE = [{ about: 'resource', ref: { kind: 'GitCommit', namespace: 'shop', name: 'settings' } }]
const OBJECT = [{ about: 'object', object: { namespace: 'shop', name: 'settings' } }]
const AGAIN = { annotations: { 'commitlet.dev/requested-at': 'again' } }

function typeOf(object: object) {
  const { apiVersion, kind } = { apiVersion: '', kind: '', ...object }
  return { apiVersion, kind }
}

for (const [title, type, data, hints] of [
  ['resource mode: a resource of Commitlet is added', 'apiserver.resource.add', resource(), RESOURCE],
  ['its spec changes', 'apiserver.resource.update', resource({}, { observedGeneration: 1 }), RESOURCE],
  ['its status is written', 'apiserver.resource.update', resource({}, { observedGeneration: 2 }), []],
  ['a request comes', 'apiserver.resource.update', resource(AGAIN, { observedGeneration: 2 }), RESOURCE],
  [
    'the request is handled',
    'apiserver.resource.update',
    resource(AGAIN, { observedGeneration: 2, lastHandledRequestedAt: 'again' }),
    [],
  ],
  ['it has no generation', 'apiserver.resource.add', resource({ generation: undefined }), RESOURCE],
  ['it is deleted', 'apiserver.resource.delete', resource(), []],
  ['another object is added', 'apiserver.resource.add', CONFIG_MAP, OBJECT],
  ['another object changes', 'apiserver.resource.update', CONFIG_MAP, OBJECT],
  ['another object is deleted', 'apiserver.resource.delete', CONFIG_MAP, []],
  [
    'an object of the cluster changes',
    'apiserver.resource.update',
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'shop' } },
    [{ about: 'object', object: { name: 'shop' } }],
  ],
  [
    'an object changes to which nothing can refer',
    'apiserver.resource.update',
    { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', metadata: { name: 'system:node' } },
    [],
  ],
  ['reference mode: a resource is added', 'apiserver.ref.add', reference(resource()), RESOURCE],
  ['a resource changes', 'apiserver.ref.update', reference(resource()), RESOURCE],
  ['a resource is deleted', 'apiserver.ref.delete', reference(resource()), []],
  ['a Secret changes', 'apiserver.ref.update', { ...reference(CONFIG_MAP), kind: 'Secret' }, OBJECT],
  ['a Secret is deleted', 'apiserver.ref.delete', { ...reference(CONFIG_MAP), kind: 'Secret' }, []],
  [
    'a resource of another group',
    'apiserver.ref.add',
    { ...reference(resource()), apiVersion: 'a.dev/v1' },
    OBJECT,
  ],
  ['a PingSource has its time', 'sources.ping', { any: 'thing' }, [{ about: 'everything' }]],
] as const) {
  t.test(`of an event of Knative the function takes what to look at: ${title}`, async (t) => {
    // uid and generation of a resource are not taken: `settings` is the name, and settings of others are others.
    const found = read(type, data).map((hint) =>
      hint.about === 'resource' ? { about: hint.about, ref: { ...hint.ref } } : hint,
    )
    t.strictSame(found, hints)
  })
}

t.test('a PingSource may send no data, or text, also in structured mode', async (t) => {
  const ping = { ...CE, 'ce-type': 'dev.knative.sources.ping', 'content-type': 'text/plain' }
  t.strictSame(readEvent(ping, 'now'), [{ about: 'everything' }])
  t.strictSame(readEvent({ ...ping, 'content-type': undefined }, ''), [{ about: 'everything' }])
  const event = { specversion: '1.0', id: '1', source: '/a', type: 'dev.knative.sources.ping', data: 'now' }
  const structured = { 'content-type': 'application/cloudevents+json' }
  t.strictSame(readEvent(structured, JSON.stringify(event)), [{ about: 'everything' }])
})

for (const [title, type, data, message] of [
  ['no object', 'apiserver.resource.add', [], /object of the Kubernetes API/],
  ['an object without a name', 'apiserver.resource.add', { ...CONFIG_MAP, metadata: {} }, /The name that/],
  ['a name that is a number', 'apiserver.ref.add', { ...reference(CONFIG_MAP), name: 7 }, /The name that/],
  ['no reference', 'apiserver.ref.add', 'x', /The name that/],
  [
    'a resource without a namespace',
    'apiserver.ref.add',
    { ...typeOf(resource()), name: 'a' },
    /The namespace that/,
  ],
  [
    'a resource that climbs',
    'apiserver.ref.add',
    { ...reference(resource()), name: '../x' },
    /The name that/,
  ],
  ['a type that is not known', 'apiserver.resource.remove', CONFIG_MAP, /type of the event is unknown/],
] as const) {
  t.test(`an event of Knative with ${title} is refused`, async (t) => {
    const failure = failureOf(() => read(type, data))
    t.match(failure, { reason: 'InvalidSpec', message })
    t.notMatch(failure.message, /\. /, 'one sentence')
  })
}
