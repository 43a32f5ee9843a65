import t from 'tap'
import { issueCertificate } from '../../../webhook/certificate/issue.ts'
import { nextState } from '../../../webhook/certificate/rotation.ts'
import type { Moment } from '../../../webhook/certificate/rotation.ts'
import {
  bundleOf,
  certificatesIn,
  endOf,
  readState,
  serving,
  writeState,
} from '../../../webhook/certificate/state.ts'
import type { CertificateState } from '../../../webhook/certificate/state.ts'

const DAY = 86_400_000
const START = new Date('2030-01-01T00:00:00Z')
const at = (days: number): Date => new Date(START.getTime() + days * DAY)
const issueAt = (now: Date) => issueCertificate({ host: 'localhost', now, days: 90 })
const EMPTY: CertificateState = { current: undefined, next: undefined, previous: [] }
const [first, second, third, fourth] = await Promise.all([0, 70, 140, 210].map((days) => issueAt(at(days))))
if (!first || !second || !third || !fourth) throw new Error('nothing was issued')
const CURRENT: CertificateState = { ...EMPTY, current: first }

function moment(now: Date, more: Partial<Moment> = {}): Moment {
  return {
    now,
    isNextTrusted: false,
    times: { renewMs: 30 * DAY, trustMs: DAY },
    issue: () => issueAt(now),
    ...more,
  }
}

t.test('the first certificate is served at once, and none is made before it is due', async (t) => {
  const state = await nextState(EMPTY, moment(START))
  t.equal(endOf(state?.current?.cert ?? ''), at(90).getTime())
  t.equal(await nextState(CURRENT, moment(at(59))), undefined)
})

t.test('the next one is made, trusted, and then served', async (t) => {
  const due = await nextState(CURRENT, moment(at(61)))
  t.equal(due?.current, first)
  t.match(due?.next, { trustedSince: undefined })
  if (due === undefined) return
  t.equal(await nextState(due, moment(at(61))), undefined, 'nobody trusts it yet')
  const trusted = await nextState(due, moment(at(62), { isNextTrusted: true }))
  t.equal(trusted?.next?.trustedSince, at(62).toISOString())
  if (trusted === undefined) return
  t.equal(
    await nextState(trusted, moment(at(62.5), { isNextTrusted: true })),
    undefined,
    'not for long enough',
  )
  t.equal(await nextState(trusted, moment(at(64))), undefined, 'somebody has taken the trust away')
  const served = await nextState(trusted, moment(at(64), { isNextTrusted: true }))
  t.equal(served?.current?.cert, due.next?.cert)
  t.strictSame(served?.previous, [first.authority])
  t.equal(served?.next, undefined)
})

t.test('one that has expired is replaced at once', async (t) => {
  const state = await nextState(CURRENT, moment(at(91)))
  t.equal(endOf(state?.current?.cert ?? ''), at(181).getTime())
  t.strictSame(state?.previous, [], 'nobody serves what has expired')
  const next = { ...second, trustedSince: undefined }
  t.equal((await nextState({ ...CURRENT, next }, moment(at(91))))?.current?.cert, second.cert)
  const late = await nextState({ ...CURRENT, next }, moment(at(161)))
  t.equal(endOf(late?.current?.cert ?? ''), at(251).getTime(), 'the next one has expired, too')
})

t.test('the authorities of the last two certificates stay', async (t) => {
  const states = [second, third, fourth].reduce((state, one) => serving(one, state, START), CURRENT)
  t.strictSame(states.previous, [third.authority, second.authority])
  t.strictSame(certificatesIn(bundleOf(states)).length, 3)
})

t.test('what is written is read again', async (t) => {
  const next = { ...third, trustedSince: START.toISOString() }
  const whole: CertificateState = { current: second, next, previous: [first.authority.trim()] }
  const read = readState(writeState(whole))
  t.equal(read.current?.cert, second.cert)
  t.strictSame(read.next, next)
  t.strictSame(writeState(read), writeState(whole))
  t.equal(bundleOf(read), bundleOf(whole))
  t.strictSame(readState({}), EMPTY)
})

t.test('what does not fit together is not served', async (t) => {
  const texts = writeState({ ...CURRENT, previous: [] })
  for (const broken of [
    { 'tls.key': second.key },
    { 'tls.crt': second.cert },
    { 'tls.crt': 'no certificate' },
    { 'ca.crt': second.authority },
  ])
    t.equal(readState({ ...texts, ...broken }).current, undefined, JSON.stringify(Object.keys(broken)))
  t.strictSame(readState({ ...texts, 'tls.key': '' }).previous.length, 1, 'its authority stays trusted')
  t.equal(endOf('no certificate'), 0)
})
