import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readToken } from '../../functions/login/read-default.ts'

t.test('a token in the settings is the token', async (t) => {
  t.equal(readToken({ token: 'tkn' }), 'tkn')
})

t.test('a file is read each time, so that a new token counts at once', async (t) => {
  const file = join(t.testdir({ token: ' old-token\r\n' }), 'token')
  t.equal(readToken({ file }), 'old-token')
  writeFileSync(file, 'new-token')
  t.equal(readToken({ file }), 'new-token')
})

for (const [title, content] of [
  ['that is not there', undefined],
  ['with nothing in it', ' \n'],
  ['with two lines', 's3cret\ns3cret\n'],
] as const) {
  t.test(`a file ${title} is reported without its name and its content`, async (t) => {
    const file = join(t.testdir(content === undefined ? {} : { token: content }), 'token')
    t.throws(() => readToken({ file }), {
      reason: 'CredentialsInvalid',
      retry: 'slow',
      message:
        "The operator's default token cannot be read from the file that DEFAULT_GIT_TOKEN_FILE names; ask your Commitlet operator, or name a Secret in spec.credentials.",
    })
  })
}
