import t from 'tap'
import { asFailure, boundedMessage, Failure } from '../../functions/domain/failure.ts'
import { GITCOMMIT_STATUS } from '../../functions/domain/crd/git-commit-status.ts'

t.test('a failure says whether a retry helps, by its row in the table or by its own value', async (t) => {
  t.equal(new Failure('Conflict', 'm').retry, 'transient')
  const cause = new Error('inner')
  const failure = new Failure('ReferenceForbidden', 'm', { retry: 'slow', retryAfterSeconds: 5, cause })
  t.match(failure, { name: 'Failure', message: 'm', retry: 'slow', retryAfterSeconds: 5 })
  t.equal(failure.cause, cause)
  t.notOk('cause' in new Failure('Conflict', 'm'))
  t.notOk(failure.accountRefused, 'slow alone does not say whose right it is')
})

t.test('every sentence fits the status, however long a name in it is', async (t) => {
  const condition = GITCOMMIT_STATUS.properties?.conditions?.items?.properties
  const limit = condition?.message?.maxLength ?? 0
  t.equal(limit, 32_768, 'as in metav1.Condition')
  for (const text of ['x'.repeat(limit), 'x']) t.equal(new Failure('Internal', text).message, text)
  for (const text of ['x'.repeat(limit + 1), '\u{1f600}'.repeat(limit), `x${'\u{1f600}'.repeat(limit)}`]) {
    const { message } = new Failure('Internal', text)
    t.equal(boundedMessage(text), message)
    t.ok(message.length <= limit)
    t.ok(message.endsWith('…'))
    t.ok(message.isWellFormed())
  }
})

t.test('what is not a Failure is a bug', async (t) => {
  const cause = new Error('bug')
  t.match(asFailure(cause), { reason: 'Internal', cause })
  const failure = new Failure('Conflict', 'Because.')
  t.equal(asFailure(failure), failure)
})
