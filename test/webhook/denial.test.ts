import t from 'tap'
import { Failure } from '../../functions/domain/failure.ts'
import { fault } from '../../functions/domain/fault.ts'
import { denialOf, foreignStamp, undecided } from '../../webhook/denial.ts'
import { readReview } from '../../webhook/review.ts'
import { gitCommit, recordingLog, reviewOf } from './stage.ts'

const WRONG = fault('spec.message', 'is empty; say what the commit is for.')
const FORBIDDEN = fault('spec.resourceRef', 'may not be read.', 'ReferenceForbidden')
const ELSEWHERE = fault('spec.repository', 'is not allowed.', 'AddressForbidden')
const LATER = fault('spec.draft', 'is not supported yet.', 'NotSupported')

for (const [title, faults, code, reason] of [
  ['one wrong field is Invalid', [WRONG], 422, 'Invalid'],
  ['what is not supported is Invalid', [LATER], 422, 'Invalid'],
  ['a missing right is Forbidden', [FORBIDDEN], 403, 'Forbidden'],
  ['a repository that the operator refuses is Forbidden', [ELSEWHERE, FORBIDDEN], 403, 'Forbidden'],
  ['a missing right beside a wrong field is Invalid', [FORBIDDEN, WRONG], 422, 'Invalid'],
] as const) {
  t.test(title, async (t) => t.match(denialOf(faults), { code, reason }))
}

t.test('one fault is the whole message, several stand in lines of their own', async (t) => {
  t.equal(denialOf([WRONG]).message, WRONG.message)
  t.equal(
    denialOf([WRONG, FORBIDDEN]).message,
    `2 things have to be mended:\n- ${WRONG.message}\n- ${FORBIDDEN.message}`,
  )
})

t.test('a foreign stamp is forbidden, in a sentence that names the annotations', async (t) => {
  t.match(foreignStamp(), {
    code: 403,
    reason: 'Forbidden',
    message: /^The annotations commitlet\.dev\/.*\.$/,
  })
})

for (const [error, reason] of [
  [new Failure('NetworkError', 'No route to 10.0.0.1.'), 'NetworkError'],
  [new TypeError('cannot read s3cr3t of undefined'), 'Internal'],
  ['text that was thrown', 'Internal'],
] as const) {
  t.test(`${String(error)} asks to try again, its words in no answer and no log`, async (t) => {
    const { log, lines } = recordingLog()
    const { code, reason: status, message } = undecided(error, readReview(reviewOf(gitCommit())), log)
    t.match({ code, status }, { code: 503, status: 'ServiceUnavailable' })
    t.match(message, new RegExp(`^[^\\n]*\\(${reason}\\)[^\\n]*try again\\.$`))
    t.match(lines, [{ level: 40, reason, kind: 'GitCommit', namespace: 'shop', name: 'settings' }])
    t.notMatch(JSON.stringify([message, lines]), /s3cr3t|10\.0\.0\.1|text that/)
  })
}
