import { createHmac } from 'node:crypto'
import t from 'tap'
import { commitSeal, isSealText } from '../../../functions/domain/commit/commit-seal.ts'
import { sign } from '../../../functions/domain/requester/signature.ts'

const KEY = Buffer.alloc(32, 'k')
const SEALED = { id: 'u.3', repository: 'https://git.example.com/acme/shop.git', branch: 'main' }

t.test('a seal is the first half of a HMAC-SHA-256 over request, repository and branch', async (t) => {
  const text = `commitlet.dev/v1 commit-seal\n["u.3","${SEALED.repository}","main"]`
  const expected = createHmac('sha256', KEY).update(text).digest('hex').slice(0, 16)
  t.equal(commitSeal(SEALED, KEY), expected)
  t.ok(isSealText(expected))
  for (const text of ['', expected.slice(1), `${expected}0`, expected.replace(/^./, 'g')])
    t.notOk(isSealText(text))
})

t.test('a seal holds for nothing else', async (t) => {
  const seals = [
    commitSeal(SEALED, KEY),
    commitSeal(SEALED, Buffer.alloc(32, 'o')),
    commitSeal({ ...SEALED, id: 'u.4' }, KEY),
    commitSeal({ ...SEALED, repository: 'https://git.example.com/acme/other.git' }, KEY),
    commitSeal({ ...SEALED, branch: 'other' }, KEY),
    commitSeal({ ...SEALED, branch: undefined }, KEY),
    commitSeal({ ...SEALED, branch: 'null' }, KEY),
    commitSeal({ ...SEALED, id: 'u.3","https', repository: '' }, KEY),
  ]
  t.equal(new Set(seals).size, seals.length)
  const signed = { namespace: '', kind: '', spec: SEALED, requestedAt: '', requestedBy: '', requester: '' }
  t.notOk(seals.includes(sign(signed, KEY).slice(0, 16)))
})
