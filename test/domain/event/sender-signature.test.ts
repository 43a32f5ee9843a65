import t from 'tap'
import {
  isFromWebhook,
  SENDER_SIGNATURE,
  senderSignature,
  signedTrace,
  TRACE_SIGNATURE,
  traceSignature,
} from '../../../functions/domain/event/sender-signature.ts'

const KEY = Buffer.alloc(32, 'k')
const ATTRIBUTES: Readonly<Record<string, string>> = {
  id: '1',
  source: '/x',
  type: 'applied',
  subject: 'a/b',
}

function headersWith(signature: string, changed: Readonly<Record<string, string>> = {}) {
  const attributes = Object.entries({ ...ATTRIBUTES, ...changed, [SENDER_SIGNATURE]: signature })
  return Object.fromEntries(attributes.map(([name, value]) => [`ce-${name}`, value]))
}

const SIGNATURE = senderSignature((name) => ATTRIBUTES[name], KEY)

t.test('the signature of the webhook is known', async (t) => {
  t.ok(isFromWebhook(headersWith(SIGNATURE), KEY))
  t.ok(isFromWebhook({ ...headersWith(SIGNATURE), 'ce-tenant': 'other' }, KEY), 'extensions may be added')
})

for (const [title, headers, key] of [
  ['no signature', { 'ce-id': '1' }, KEY],
  ['an empty one', headersWith(''), KEY],
  ['one of another length', headersWith(`${SIGNATURE}0`), KEY],
  ['another key', headersWith(SIGNATURE), Buffer.alloc(32, 'l')],
  ...Object.keys(ATTRIBUTES).map(
    (name) => [`another ${name}`, headersWith(SIGNATURE, { [name]: 'z' }), KEY] as const,
  ),
] as const) {
  t.test(`${title} is not the webhook's`, async (t) => t.notOk(isFromWebhook(headers, key)))
}

const TRACEPARENT = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
const TRACED: Readonly<Record<string, string>> = { ...ATTRIBUTES, traceparent: TRACEPARENT }
const OF_TRACE = traceSignature((name) => TRACED[name], KEY)

function tracedWith(signature: string | undefined, changed: Readonly<Record<string, string>> = {}) {
  const signed = signature === undefined ? {} : { [TRACE_SIGNATURE]: signature }
  const attributes = Object.entries({ ...TRACED, ...changed, ...signed, [SENDER_SIGNATURE]: SIGNATURE })
  return Object.fromEntries(attributes.map(([name, value]) => [`ce-${name}`, value]))
}

t.test('the trace of the webhook is known', async (t) => {
  t.strictSame(signedTrace(tracedWith(OF_TRACE), KEY), {
    traceId: '4bf92f3577b34da6a3ce929d0e0e4736',
    spanId: '00f067aa0ba902b7',
    sampled: true,
  })
})

for (const [title, headers] of [
  ['without a signature', tracedWith(undefined)],
  ['with the signature of the event', tracedWith(SIGNATURE)],
  ['with another key', tracedWith(traceSignature((name) => TRACED[name], Buffer.alloc(32, 'l')))],
  ['that is sampled now', tracedWith(OF_TRACE, { traceparent: TRACEPARENT.replace(/1$/, '3') })],
  ['of another event', tracedWith(OF_TRACE, { id: '2' })],
  ['that is none', tracedWith(OF_TRACE, { traceparent: 'x' })],
] as const) {
  t.test(`a trace ${title} is not continued, and the event stays the webhook's`, async (t) => {
    t.equal(signedTrace(headers, KEY), undefined)
    t.equal(isFromWebhook(headers, KEY), headers['ce-id'] === '1')
  })
}
