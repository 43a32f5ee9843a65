import { createHmac, createSecretKey } from 'node:crypto'
import t from 'tap'
import { commitSeal, commitSeals, isSealText } from '../../../functions/domain/commit/commit-seal.ts'
import { sign } from '../../../functions/domain/requester/signature.ts'

const KEY = createSecretKey(Buffer.alloc(32, 'k'))
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
    commitSeal(SEALED, createSecretKey(Buffer.alloc(32, 'o'))),
    commitSeal({ ...SEALED, id: 'u.4' }, KEY),
    commitSeal({ ...SEALED, repository: 'https://git.example.com/acme/other.git' }, KEY),
    commitSeal({ ...SEALED, branch: 'other' }, KEY),
    commitSeal({ ...SEALED, branch: undefined }, KEY),
    commitSeal({ ...SEALED, branch: 'null' }, KEY),
    commitSeal({ ...SEALED, id: 'u.3","https', repository: '' }, KEY),
    commitSeal({ ...SEALED, start: '2026-03-01T10:00:00.250000Z' }, KEY),
    commitSeal({ ...SEALED, start: '2026-03-01T10:00:00.250001Z' }, KEY),
    commitSeal({ ...SEALED, start: 'main', branch: undefined }, KEY),
  ]
  t.equal(new Set(seals).size, seals.length)
  const signed = { namespace: '', kind: '', spec: SEALED, requestedAt: '', requestedBy: '', requester: '' }
  t.notOk(seals.includes(sign(signed, KEY).slice(0, 16)))
})

t.test(
  'a commit has seals with the start of its request, and the one of the version before, which is not sought',
  (t) => {
    const keys = ['k', 'o', 'p'].map((letter) => createSecretKey(Buffer.alloc(32, letter)))
    const started = { ...SEALED, start: '2026-03-01T10:00:00.250000Z' }
    const [plain, own] = [SEALED, started].map((sealed) => keys.map((key) => commitSeal(sealed, key)))
    t.same(commitSeals(SEALED, keys), { sought: plain, written: plain?.slice(0, 2) })
    const written = [...(own?.slice(0, 2) ?? []), plain?.[0]]
    t.same(commitSeals(started, keys), { sought: own, written })
    t.same(commitSeals(SEALED, []), { sought: undefined, written: [] })
    const unkeyed = [commitSeal(started, createSecretKey(Buffer.alloc(0)))]
    t.same(
      commitSeals(started, []),
      { sought: unkeyed, written: unkeyed },
      'without a key it tells requests apart',
    )
    t.end()
  },
)
