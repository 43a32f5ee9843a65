import { createSecretKey } from 'node:crypto'
import t from 'tap'
import {
  isFromWebhook,
  SENDER_SIGNATURE,
  senderSignature,
  signedTrace,
  TRACE_SIGNATURE,
  traceSignature,
} from '../../../functions/domain/event/sender-signature.ts'

const KEY = createSecretKey(Buffer.alloc(32, 'k'))
const ATTRIBUTES: Readonly<Record<string, string>> = {
  id: '1',
  source: '/x',
  type: 'applied',
  subject: 'a/b',
  sendertime: '2026-11-23T12:00:00.000Z',
}
const NOW = new Date('2026-11-23T12:00:01Z')
const MINUTE = 60_000

function headersWith(signature: string, changed: Readonly<Record<string, string>> = {}) {
  const attributes = Object.entries({ ...ATTRIBUTES, ...changed, [SENDER_SIGNATURE]: signature })
  return Object.fromEntries(attributes.map(([name, value]) => [`ce-${name}`, value]))
}

const SIGNATURE = senderSignature((name) => ATTRIBUTES[name], KEY)

t.test('the signature of the webhook is known', async (t) => {
  t.ok(isFromWebhook(headersWith(SIGNATURE), KEY, NOW))
  t.ok(
    isFromWebhook({ ...headersWith(SIGNATURE), 'ce-tenant': 'other' }, KEY, NOW),
    'extensions may be added',
  )
})

for (const [title, headers, key] of [
  ['no signature', { 'ce-id': '1' }, KEY],
  ['an empty one', headersWith(''), KEY],
  ['one of another length', headersWith(`${SIGNATURE}0`), KEY],
  ['no time', { ...headersWith(SIGNATURE), 'ce-sendertime': undefined }, KEY],
  ['another key', headersWith(SIGNATURE), createSecretKey(Buffer.alloc(32, 'l'))],
  ...Object.keys(ATTRIBUTES).map(
    (name) => [`another ${name}`, headersWith(SIGNATURE, { [name]: '2026-11-23T12:00:00Z' }), KEY] as const,
  ),
] as const) {
  t.test(`${title} is not the webhook's`, async (t) => t.notOk(isFromWebhook(headers, key, NOW)))
}

t.test('it is known for 20 minutes, and clocks may differ by 10', async (t) => {
  const sent = Date.parse(ATTRIBUTES['sendertime'] ?? '')
  const isKnownAfter = (ms: number): boolean =>
    isFromWebhook(headersWith(SIGNATURE), KEY, new Date(sent + ms))
  t.same([-10 * MINUTE, 0, 20 * MINUTE].map(isKnownAfter), [true, true, true])
  t.same([-10 * MINUTE - 1, 20 * MINUTE + 1].map(isKnownAfter), [false, false])
})

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
  [
    'with another key',
    tracedWith(traceSignature((name) => TRACED[name], createSecretKey(Buffer.alloc(32, 'l')))),
  ],
  ['that is sampled now', tracedWith(OF_TRACE, { traceparent: TRACEPARENT.replace(/1$/, '3') })],
  ['of another event', tracedWith(OF_TRACE, { id: '2' })],
  ['that is none', tracedWith(OF_TRACE, { traceparent: 'x' })],
] as const) {
  t.test(`a trace ${title} is not continued, and the event stays the webhook's`, async (t) => {
    t.equal(signedTrace(headers, KEY), undefined)
    t.equal(isFromWebhook(headers, KEY, NOW), headers['ce-id'] === '1')
  })
}
