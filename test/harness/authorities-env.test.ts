import t from 'tap'
import { trusting, trustingTheMachine } from './authorities-env.ts'

t.test('programs that ask other hosts trust what the machine trusts', (t) => {
  for (const own of [
    {},
    { SSL_CERT_FILE: '/own.pem' },
    { SSL_CERT_FILE: '/own.pem', SSL_CERT_DIR: '/own' },
  ]) {
    const env = { PATH: '/bin', ...own }
    const tested = { ...env, ...trusting('/one.pem', '/one', env) }
    t.match(tested, { SSL_CERT_FILE: '/one.pem', SSL_CERT_DIR: '/one' })
    const { PATH, SSL_CERT_FILE, SSL_CERT_DIR } = trustingTheMachine(tested)
    t.strictSame(
      { PATH, SSL_CERT_FILE, SSL_CERT_DIR },
      { PATH: '/bin', SSL_CERT_FILE: undefined, SSL_CERT_DIR: undefined, ...own },
    )
    t.equal(trustingTheMachine(env), env)
  }
  t.end()
})
