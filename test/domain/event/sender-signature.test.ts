import t from 'tap'
import {
  isFromWebhook,
  SENDER_SIGNATURE,
  senderSignature,
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
