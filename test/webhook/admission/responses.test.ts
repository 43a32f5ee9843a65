import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import { fieldError } from '../../../functions/domain/field-error.ts'
import {
  denialOf,
  foreignSignature,
  foreignStamp,
  errorFields,
  undecided,
} from '../../../webhook/admission/responses.ts'
import { readReview } from '../../../webhook/admission/review.ts'
import { gitCommit, recordingLog, reviewOf } from '../stage.ts'

const REQUEST = readReview(reviewOf(gitCommit()))
const WRONG = fieldError('spec.message', 'is empty; say what the commit is for.')
const FORBIDDEN = fieldError('spec.resourceRef', 'may not be read.', 'ReferenceForbidden')
const ELSEWHERE = fieldError('spec.repository', 'is not allowed.', 'AddressForbidden')
const UNKNOWN = fieldError('spec.repository', 'could not be looked up.', 'Timeout')
const LATER = fieldError('spec.draft', 'is not supported yet.', 'NotSupported')

for (const [title, fieldErrors, code, reason] of [
  ['one wrong field is Invalid', [WRONG], 422, 'Invalid'],
  ['what is not supported is Invalid', [LATER], 422, 'Invalid'],
  ['a missing right is Forbidden', [FORBIDDEN], 403, 'Forbidden'],
  ['a repository that the operator refuses is Forbidden', [ELSEWHERE, FORBIDDEN], 403, 'Forbidden'],
  ['a missing right beside a wrong field is Invalid', [FORBIDDEN, WRONG], 422, 'Invalid'],
  ['a failed review with a missing right is undecided', [FORBIDDEN, UNKNOWN], 503, 'ServiceUnavailable'],
] as const) {
  t.test(title, async (t) => t.match(denialOf(fieldErrors, REQUEST), { code, reason }))
}

t.test('one field error is the whole message, several are on their own lines', async (t) => {
  t.equal(denialOf([WRONG], REQUEST).message, WRONG.message)
  t.equal(
    denialOf([WRONG, FORBIDDEN], REQUEST).message,
    `2 errors have to be fixed:\n- ${WRONG.message}\n- ${FORBIDDEN.message}`,
  )
})

t.test('a denial lists the first 100 of many errors', async (t) => {
  const errors = Array.from({ length: 101 }, (_, i) => fieldError(`spec.files[${i}]`, 'is wrong.'))
  t.equal(denialOf(errors.slice(1), REQUEST).details?.causes.length, 100)
  const { message, details } = denialOf(errors, REQUEST)
  t.match(
    message,
    /^101 errors have to be fixed, of which these are the first 100:\n- spec\.files\[0\] is wrong/,
  )
  t.equal(message.split('\n').length, 101)
  t.equal(details?.causes.length, 100)
})

t.test('each field error is a cause, whose sentence does not repeat the field, for kubectl', async (t) => {
  const whole = { reason: 'InvalidSpec', field: '', message: 'The object is empty.' } as const
  t.strictSame(denialOf([WRONG, FORBIDDEN, whole], REQUEST).details, {
    group: 'commitlet.dev',
    kind: 'GitCommit',
    name: 'settings',
    causes: [
      { reason: 'InvalidSpec', field: 'spec.message', message: 'is empty; say what the commit is for.' },
      { reason: 'ReferenceForbidden', field: 'spec.resourceRef', message: 'may not be read.' },
      { reason: 'InvalidSpec', message: 'The object is empty.' },
    ],
  })
})

t.test('a field error whose sentence does not begin with its field keeps it whole', async (t) => {
  const message = 'The address in spec.repository has no host.'
  const { details } = denialOf([{ reason: 'InvalidSpec', field: 'spec.repository', message }], REQUEST)
  t.strictSame(details?.causes, [{ reason: 'InvalidSpec', field: 'spec.repository', message }])
})

t.test('a foreign stamp is forbidden, in a sentence that names annotations and both causes', async (t) => {
  const { code, reason, message } = foreignStamp()
  t.match({ code, reason }, { code: 403, reason: 'Forbidden' })
  for (const named of [
    /^The annotations commitlet\.dev\/requested-by, commitlet\.dev\/requester, commitlet\.dev\/requester-signature and commitlet\.dev\/request-generation differ /,
    /another admission webhook/,
    /`kubectl get mutatingwebhookconfigurations`/,
    /replicas have different settings/,
  ]) {
    t.match(message, named)
  }
})

t.test('only a foreign signature is reported as the new key that it most likely is', async (t) => {
  t.match(foreignSignature(), {
    code: 503,
    reason: 'ServiceUnavailable',
    message:
      /two replicas of the webhook sign with different keys; try again in a moment\..*`kubectl get mutatingwebhookconfigurations`\.$/,
  })
})

for (const [error, reason, cause] of [
  [new Failure('NetworkError', 'No route to the API server.'), 'NetworkError', 'No route to the API server.'],
  [new TypeError('cannot read s3cr3t of undefined'), 'Internal', undefined],
  ['text that was thrown', 'Internal', undefined],
] as const) {
  t.test(`${String(error)} asks to retry, and only a Failure is quoted, in the log`, async (t) => {
    const { log, lines } = recordingLog()
    const { code, reason: status, message } = undecided(error, readReview(reviewOf(gitCommit())), log)
    t.match({ code, status }, { code: 503, status: 'ServiceUnavailable' })
    t.match(message, new RegExp(`^[^\\n]*\\(${reason}\\)[^\\n]*try again\\.$`))
    t.match(lines, [{ level: 40, reason, cause, kind: 'GitCommit', namespace: 'shop', name: 'settings' }])
    t.notMatch(message, 'No route')
    t.notMatch(JSON.stringify([message, lines]), /s3cr3t|text that/)
  })
}

t.test(
  'a failure that someone has to fix first has its own sentence, for the user and in the log',
  async (t) => {
    const { log, lines } = recordingLog()
    const sentence = "Commitlet's service account may not ask; ask your Commitlet operator."
    const error = new Failure('ReferenceForbidden', sentence, { retry: 'slow' })
    const denial = undecided(error, readReview(reviewOf(gitCommit())), log)
    t.strictSame(denial, { code: 503, reason: 'ServiceUnavailable', message: sentence })
    t.match(lines, [{ reason: 'ReferenceForbidden', cause: sentence }])
  },
)

t.test('a log line names the request, and does not show the message of a bug', async (t) => {
  const fields = errorFields(new TypeError('s3cr3t'), readReview(reviewOf(gitCommit())))
  t.match(fields, { reason: 'Internal', origin: { error: 'TypeError' }, namespace: 'shop', name: 'settings' })
  t.notMatch(JSON.stringify(fields), 's3cr3t')
})

t.test('what ran out of time is a log line without stack frames', async (t) => {
  const { log, lines } = recordingLog()
  undecided(new Failure('Timeout', 'No time.', { cause: new Error('later') }), REQUEST, log)
  t.match(lines, [{ reason: 'Timeout', cause: 'No time.', namespace: 'shop' }])
  t.notMatch(JSON.stringify(lines), /"origin"|"frames"/)
})
