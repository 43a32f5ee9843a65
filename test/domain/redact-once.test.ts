import t from 'tap'
import { holdsSecret, redact, redactedName } from '../../functions/domain/redact.ts'
import { cpuTime } from '../harness/cpu-time.ts'
import { allowedMs } from '../harness/growth.ts'

/** As many and as long as are masked. */
const SECRETS = Array.from({ length: 1_000 }, (_, index) => `é/=+${index}`.padEnd(64, '%'))

t.test('the spellings of a list of secrets are made once, however many texts are masked', async (t) => {
  const start = cpuTime()
  for (let name = 0; name < 50; name += 1) redactedName(`label-${name}`, SECRETS)
  t.ok(cpuTime() - start < allowedMs(80))
})

t.test('five hundred long addresses are searched for a long token at once', async (t) => {
  const secrets = ['gT/+='.repeat(816), `x-access-token:${'gT/+='.repeat(816)}`]
  const address = `https://git.example.com/${'a'.repeat(8_000)}`
  const start = cpuTime()
  for (let pull = 0; pull < 500; pull += 1) holdsSecret(`${address}/${pull}`, secrets)
  t.ok(cpuTime() - start < allowedMs(100))
})

t.test('a list that has got another secret since masks that, too', async (t) => {
  const secrets = ['first-secret']
  t.equal(redact('first-secret, second-secret', secrets), '***, second-secret')
  t.equal(holdsSecret('https://git.example.com/second-secret', secrets), false)
  secrets.push('second-secret')
  t.equal(redact('first-secret, second-secret', secrets), '***, ***')
  t.equal(holdsSecret('https://git.example.com/second-secret', secrets), true)
  secrets[0] = 'third-secret'
  t.equal(redact('first-secret, third-secret', secrets), 'first-secret, ***')
})
