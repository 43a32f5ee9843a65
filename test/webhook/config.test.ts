import { join } from 'node:path'
import t from 'tap'
import { WrongSetting } from '../../functions/domain/settings.ts'
import { readConfig } from '../../webhook/config.ts'
import { makeAuthority } from '../harness/certificates.ts'

t.test('without variables the webhook only admits, with the defaults of the contract', async (t) => {
  t.strictSame(readConfig({ HOME: '/root' }), {
    port: 8443,
    metricsPort: undefined,
    traces: undefined,
    caFile: undefined,
    proxies: { proxy: undefined, exceptions: [] },
    tls: {
      certFile: '/etc/webhook/tls/tls.crt',
      keyFile: '/etc/webhook/tls/tls.key',
      clientCAFile: undefined,
    },
    tlsSecret: undefined,
    sink: undefined,
    requesterExtra: ['scopes.authorization.openshift.io'],
    sweepInterval: 30,
    sweepFullInterval: 300,
    referenceScope: 'namespace',
    allowedRepositories: undefined,
    insecureHosts: [],
    delegation: { appliers: [], account: 'commitlet' },
    stampKey: undefined,
    logLevel: 'info',
  })
})

t.test('every variable is read', async (t) => {
  const { certPEM } = await makeAuthority()
  const config = readConfig({
    PORT: '9443',
    TLS_CERT_FILE: '/a.crt',
    TLS_KEY_FILE: '/a.key',
    CLIENT_CA_FILE: '/ca.crt',
    K_SINK: 'https://broker.example.com/default?x=1',
    K_CE_OVERRIDES: '{"extensions":{"tenant":"acme","count":7,"yes":true}}',
    K_CA_CERTS: certPEM,
    REQUESTER_EXTRA: ' a.example.com/x, ,b',
    SWEEP_INTERVAL: '0',
    SWEEP_FULL_INTERVAL: '60',
    REFERENCE_SCOPE: 'any',
    ALLOWED_REPOSITORIES: 'github.com/acme, git.example.com:8443',
    DELEGATED_APPLIERS: 'system:serviceaccount:argocd:controller, flux',
    DELEGATE_SERVICE_ACCOUNT: 'applier',
    STAMP_KEY_FILE: join(t.testdir({ key: 'k'.repeat(31) + '\n' }), 'key'),
    LOG_LEVEL: 'debug',
  })
  t.match(config, {
    port: 9443,
    tls: { certFile: '/a.crt', keyFile: '/a.key', clientCAFile: '/ca.crt' },
    requesterExtra: ['a.example.com/x', 'b'],
    sweepInterval: 0,
    sweepFullInterval: 60,
    referenceScope: 'any',
    allowedRepositories: 'github.com/acme, git.example.com:8443',
    delegation: { appliers: ['system:serviceaccount:argocd:controller', 'flux'], account: 'applier' },
    logLevel: 'debug',
  })
  t.equal(config.stampKey?.export().toString(), 'k'.repeat(31) + '\n', 'every byte counts')
  t.equal(config.sink?.url.href, 'https://broker.example.com/default?x=1')
  t.strictSame(config.sink?.extensions, { tenant: 'acme', count: '7', yes: 'true' })
  t.equal(config.sink?.caCerts, `${certPEM}\n`)
})

t.test('no override and none of them are the same', async (t) => {
  for (const K_CE_OVERRIDES of ['{"extensions":{}}', '{}', '']) {
    t.strictSame(readConfig({ K_SINK: 'http://f', K_CE_OVERRIDES }).sink?.extensions, {})
  }
})

const KEYS = t.testdir({ short: 's3cret'.padEnd(31), empty: '' })
const KEY_FILE =
  /^STAMP_KEY_FILE is "[^"]+", but has to be the path of a readable file of 32 bytes or more\.$/
const SINK = { K_SINK: 'http://function.commitlet-system.svc.cluster.local' }

for (const [title, env, message] of [
  ['a port of letters', { PORT: 'https' }, /PORT is "https"/],
  ['a port that does not exist', { PORT: '65536' }, /PORT .*0 to 65535/],
  ['a negative interval', { SWEEP_INTERVAL: '-1' }, /SWEEP_INTERVAL .*0 to 86400/],
  ['an interval of a week', { SWEEP_FULL_INTERVAL: '604800' }, /SWEEP_FULL_INTERVAL/],
  ['an unknown scope', { REFERENCE_SCOPE: 'all' }, /REFERENCE_SCOPE is "all".*namespace, any/],
  ['an unknown level', { LOG_LEVEL: 'loud' }, /LOG_LEVEL is "loud"/],
  ['a sink that is no address', { K_SINK: 'function' }, /K_SINK has to be an http or https address/],
  ['a sink of another scheme', { K_SINK: 'ftp://f' }, /K_SINK has to be/],
  ['a sink with a password', { K_SINK: 'https://u:s3cret@f' }, /K_SINK has to be .*without a user name/],
  ['overrides that are no JSON', { ...SINK, K_CE_OVERRIDES: 'x' }, /K_CE_OVERRIDES has to be JSON/],
  ['overrides of null', { ...SINK, K_CE_OVERRIDES: 'null' }, /K_CE_OVERRIDES has to be JSON/],
  [
    'extensions that are text',
    { ...SINK, K_CE_OVERRIDES: '{"extensions":"x"}' },
    /K_CE_OVERRIDES has to be JSON/,
  ],
  [
    'extensions that are a list',
    { ...SINK, K_CE_OVERRIDES: '{"extensions":["x"]}' },
    /K_CE_OVERRIDES has to be JSON/,
  ],
  ['an extension with a dash', { ...SINK, K_CE_OVERRIDES: '{"extensions":{"a-b":"x"}}' }, /extension "a-b"/],
  ['an extension named type', { ...SINK, K_CE_OVERRIDES: '{"extensions":{"type":"x"}}' }, /extension "type"/],
  ['an extension that is an object', { ...SINK, K_CE_OVERRIDES: '{"extensions":{"a":{}}}' }, /extension "a"/],
  ['authorities that are no PEM', { ...SINK, K_CA_CERTS: 'x' }, /K_CA_CERTS has to hold certificates/],
  ['a key file that is not there', { STAMP_KEY_FILE: '/nowhere/key' }, KEY_FILE],
  ['a key file that is a folder', { STAMP_KEY_FILE: KEYS }, KEY_FILE],
  ['a key of 31 bytes', { STAMP_KEY_FILE: join(KEYS, 'short') }, KEY_FILE],
  ['an empty key', { STAMP_KEY_FILE: join(KEYS, 'empty') }, KEY_FILE],
  [
    'an allowed repository with a scheme',
    { ALLOWED_REPOSITORIES: 'https://a.b/c' },
    /entry "https:\/\/a.b\/c"/,
  ],
  [
    'a delegate that is a user name',
    { DELEGATE_SERVICE_ACCOUNT: 'a:b' },
    /DELEGATE_SERVICE_ACCOUNT is "a:b"/,
  ],
] as const) {
  t.test(`${title} stops the start with one sentence`, async (t) => {
    const error = startError(env)
    t.ok(error instanceof WrongSetting)
    t.match(error, { message })
    t.match(error, { message: /^[^\n]*\.$/ })
    t.notMatch(error, { message: /s3cret/ })
  })
}

function startError(env: Readonly<Record<string, string>>): unknown {
  try {
    return readConfig(env)
  } catch (error) {
    return error
  }
}
