import { createSecretKey } from 'node:crypto'
import t from 'tap'
import { knowSenders } from '../../functions/arrival/senders.ts'
import { sourceKeyOf } from '../../functions/arrival/source-key.ts'
import type { Posted } from '../../functions/domain/event/hint.ts'
import { senderSignature } from '../../functions/domain/event/sender-signature.ts'

const KEY = createSecretKey(Buffer.alloc(32, 'k'))
const POSTED: Posted = {
  form: 'event',
  hints: [{ about: 'resource', ref: { kind: 'GitCommit', namespace: 'team', name: 'shop' } }],
  skipped: 0,
}

/** The head of an event as the webhook signs it. */
function head(id = '1', subject = 'team/shop', sendertime = new Date().toISOString()) {
  const attributes = { id, source: '/x', type: 'dev.commitlet.gitcommit.applied', subject, sendertime }
  const named = Object.entries(attributes).map(([name, value]) => [`ce-${name}`, value])
  const signature = senderSignature((name) => Reflect.get(attributes, name), KEY)
  return { ...Object.fromEntries(named), 'ce-sendersignature': signature }
}

t.test('an event of the webhook has priority once, and again after nothing came of it', async (t) => {
  const senders = knowSenders([KEY])
  const event = head()
  t.equal(senders.of(event), 'webhook')
  t.equal(senders.claim(event, POSTED), 'webhook')
  t.same([senders.of(event), senders.claim(event, POSTED)], ['anybody', 'anybody'], 'it is repeated')
  t.equal(senders.of(head('2')), 'webhook', 'another one')
  senders.release(event)
  t.equal(senders.claim(event, POSTED), 'webhook')
})

for (const [what, headers, posted] of [
  [
    'with another resource',
    head(),
    {
      ...POSTED,
      hints: [{ ...POSTED.hints[0], ref: { kind: 'GitCommit', namespace: 'team', name: 'other' } }],
    },
  ],
  ['with a list', head(), { ...POSTED, form: 'list' }],
  ['with a batch', head(), { ...POSTED, form: 'batch' }],
  ['with several resources', head(), { ...POSTED, hints: [...POSTED.hints, ...POSTED.hints] }],
  ['with a sweep', head(), { ...POSTED, hints: [{ about: 'everything' }] }],
  ['with nothing', head(), { ...POSTED, hints: [] }],
  ['with another subject', { ...head(), 'ce-subject': 'team/other' }, POSTED],
] as readonly (readonly [string, Readonly<Record<string, unknown>>, Posted])[]) {
  t.test(`a signature that was seen gives no priority ${what}`, async (t) => {
    const senders = knowSenders([KEY])
    t.equal(senders.claim(headers, posted), 'anybody')
    if (headers['ce-subject'] === 'team/shop') t.equal(senders.of(headers), 'anybody', 'not even its head')
  })
}

t.test(
  'a source is known by its key, for all of its events, and also by one that was replaced',
  async (t) => {
    const senders = knowSenders([createSecretKey(Buffer.alloc(32, 'n')), KEY])
    for (const headers of [
      { 'ce-sourcekey': sourceKeyOf(KEY) },
      { 'ce-sourcekey': sourceKeyOf(createSecretKey(Buffer.alloc(32, 'n'))) },
      { authorization: `Bearer ${sourceKeyOf(KEY)}` },
    ]) {
      t.equal(senders.of(headers), 'source')
      t.equal(senders.claim(headers, POSTED), 'source')
      t.equal(senders.claim(headers, { ...POSTED, form: 'list' }), 'source', 'again')
    }
    const both = { ...head(), 'ce-sourcekey': sourceKeyOf(KEY) }
    t.same([senders.claim(both, POSTED), senders.claim(both, POSTED)], ['webhook', 'source'])
    for (const headers of [
      {},
      { 'ce-sourcekey': '' },
      { 'ce-sourcekey': KEY.export().toString() },
      { 'ce-sourcekey': sourceKeyOf(createSecretKey(Buffer.alloc(32, 'x'))) },
      { 'ce-sourcekey': [sourceKeyOf(KEY)] },
      { authorization: sourceKeyOf(KEY) },
      { authorization: `Basic ${sourceKeyOf(KEY)}` },
    ])
      t.equal(senders.of(headers), 'anybody')
    t.equal(knowSenders([]).of({ 'ce-sourcekey': sourceKeyOf(createSecretKey(new Uint8Array())) }), 'anybody')
  },
)

t.test('a key that was replaced still tells the events of the webhook', async (t) => {
  const senders = knowSenders([createSecretKey(Buffer.alloc(32, 'n')), KEY])
  const event = head()
  t.equal(senders.claim(event, POSTED), 'webhook')
  t.equal(senders.claim(event, POSTED), 'anybody', 'once')
})

t.test('without the key nobody is known', async (t) => {
  t.equal(knowSenders([]).claim(head(), POSTED), 'anybody')
  t.equal(knowSenders([createSecretKey(Buffer.alloc(32, 'x'))]).of(head()), 'anybody')
})

t.test(
  '20,000 events are remembered, and who has collected more can repeat them for 20 minutes',
  async (t) => {
    let now = new Date()
    const senders = knowSenders([KEY], () => now)
    const events = Array.from({ length: 20_001 }, (_, id) => head(`${id}`, 'team/shop', now.toISOString()))
    const [first = {}, second = {}] = events
    for (const event of events) senders.claim(event, POSTED)
    t.equal(senders.of(first), 'webhook')
    t.equal(senders.of(second), 'anybody')
    now = new Date(now.getTime() + 20 * 60_000)
    t.equal(senders.of(first), 'webhook')
    now = new Date(now.getTime() + 1)
    t.equal(senders.of(first), 'anybody')
  },
)
