import t from 'tap'
import { Failure } from '../../functions/domain/failure.ts'
import { errorLogFields } from '../../functions/domain/error-log-fields.ts'

t.test('the message of an error is never logged', async (t) => {
  const cause = Object.assign(new TypeError('token s3cr3t'), { code: 'ECONNREFUSED' })
  const origin = errorLogFields(new Failure('NetworkError', 'It could not be reached.', { cause }))
  t.match(origin, {
    error: 'NetworkError',
    code: 'ECONNREFUSED',
    frames: [/^at .*error-log-fields\.test\.ts/],
  })
  t.notMatch(JSON.stringify(origin), 's3cr3t')
})

t.test('a Failure without a cause is described by itself', async (t) => {
  t.match(errorLogFields(new Failure('Timeout', 'Late.')), {
    error: 'Timeout',
    frames: [/error-log-fields\.test\.ts/],
  })
})

t.test('a code that is not a plain code is left out', async (t) => {
  t.equal(errorLogFields(Object.assign(new Error('x'), { code: 's3cr3t' })).code, undefined)
})

t.test('what is not an error is named by its type', async (t) => {
  t.same(errorLogFields('s3cr3t'), { error: 'string', frames: [] })
})

t.test('an error without a stack has no frames', async (t) => {
  const error = new Error('x')
  delete error.stack
  t.same(errorLogFields(error), { error: 'Error', frames: [] })
})

t.test('a line of the message is no frame, though it looks like one', async (t) => {
  const { frames } = errorLogFields(new Error('The host says:\n    at s3cr3t (and more)\nNo.'))
  t.match(frames, [/^at .*error-log-fields\.test\.ts/])
  t.notMatch(frames.join(), 's3cr3t')
})

t.test('a line of a message that was changed since is no frame either', async (t) => {
  const error = new Error('The host says:\n    at s3cr3t (and more)\nNo.')
  // The stack is written when it is read first.
  t.match(error.stack, 's3cr3t')
  error.message = 'The host refuses it.'
  t.same(errorLogFields(error).frames, [])
})
