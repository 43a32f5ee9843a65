import t from 'tap'
import { FLUSH, packet } from '../../../functions/git/protocol/pkt-line.ts'
import {
  pushCommand,
  readAdvertisedRef,
  readPushReport,
} from '../../../functions/git/protocol/receive-pack.ts'

const [ONE, TWO] = ['1'.repeat(40), '2'.repeat(40)]
const REF = 'refs/heads/main'

/** A report of these lines. */
function report(...lines: readonly string[]): Buffer {
  return Buffer.concat([...lines.map((line) => packet(`${line}\n`)), FLUSH])
}

function inBand(data: Buffer, progress = ''): Buffer {
  const words = progress === '' ? [] : [packet(`\u0002${progress}`)]
  return Buffer.concat([...words, packet(Buffer.concat([Buffer.from([1]), data])), FLUSH])
}

t.test('the request names the lease, the new commit and what is expected in the answer', async (t) => {
  const capabilities = ' report-status side-band-64k quiet object-format=sha1 agent=git/commitlet'
  const request = pushCommand({ ref: REF, from: ONE, to: TWO }).toString()
  t.equal(request.slice(4), `${ONE} ${TWO} ${REF}\0${capabilities.trimStart()}0000`)
  t.match(pushCommand({ ref: REF, from: undefined, to: TWO }).toString(), `${'0'.repeat(40)} ${TWO}`)
})

const ok = { unpackError: undefined, ref: 'ok', progress: '' }
for (const [title, answer, expected] of [
  ['accepted', inBand(report('unpack ok', `ok ${REF}`)), ok],
  [
    'accepted, in a report of version 2',
    inBand(report('unpack ok', `ok ${REF}`, 'option forced-update')),
    ok,
  ],
  ['accepted, without a side band', report('unpack ok', `ok ${REF}`), ok],
  [
    'refused, with words',
    inBand(report('unpack ok', `ng ${REF} pre-receive hook declined`), 'no\n'),
    { unpackError: undefined, ref: { refused: 'pre-receive hook declined' }, progress: 'no\n' },
  ],
  [
    'not stored',
    inBand(report('unpack index-pack abnormal exit', `ng ${REF} unpacker error`)),
    { unpackError: 'index-pack abnormal exit', ref: { refused: 'unpacker error' } },
  ],
  ['nothing is said', inBand(report('unpack ok')), { unpackError: undefined, ref: undefined }],
  ['another ref', inBand(report('unpack ok', `ok ${REF}-2`)), { unpackError: undefined, ref: undefined }],
] as const)
  t.test(`a report is read: ${title}`, async (t) => {
    t.match(readPushReport(answer, REF), expected)
  })

for (const [code, answer] of [
  ['TRUNCATED', Buffer.alloc(0)],
  ['TRUNCATED', inBand(report('unpack ok', `ok ${REF}`)).subarray(0, -4)],
  ['TRUNCATED', inBand(report('unpack ok', `ok ${REF}`).subarray(0, -4))],
  ['UNEXPECTED', inBand(report(`ok ${REF}`))],
  ['REMOTE', packet('ERR no service\n')],
  ['REMOTE', Buffer.concat([packet('\u0003fatal'), FLUSH])],
] as const)
  t.test(`${code}: ${answer.toString('latin1')}`, async (t) => {
    t.throws(() => readPushReport(answer, REF), { code })
  })

t.test('the list of refs shows where the ref is', async (t) => {
  const list = report(
    `${ONE} ${REF}-2\0report-status ofs-delta object-format=sha1`,
    `${TWO} ${REF}`,
    `shallow ${ONE}`,
  )
  t.equal(readAdvertisedRef(list, REF), TWO)
  t.equal(readAdvertisedRef(list, `${REF}-2`), ONE)
  t.equal(readAdvertisedRef(list, 'refs/heads/none'), undefined)
  const empty = report(`${'0'.repeat(40)} capabilities^{}\0report-status`)
  t.equal(readAdvertisedRef(empty, REF), undefined)
})

for (const [code, list] of [
  ['UNEXPECTED', report(`${ONE} ${REF}\0report-status no-thin`)],
  ['UNEXPECTED', report(`${ONE} ${REF}\0object-format=sha256 report-status`)],
  ['TRUNCATED', packet(`${ONE} ${REF}\0report-status\n`)],
  ['REMOTE', packet('ERR access denied\n')],
] as const)
  t.test(`${code}: ${list.toString('latin1')}`, async (t) => {
    t.throws(() => readAdvertisedRef(list, REF), { code })
  })
