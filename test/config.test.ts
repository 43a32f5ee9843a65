import { join } from 'node:path'
import t from 'tap'
import { readConfig } from '../functions/config.ts'
import { WrongSetting } from '../functions/domain/settings.ts'

t.test('without variables everything has its default', async (t) => {
  t.same(readConfig({}), {
    port: 8080,
    caFile: undefined,
    attemptDeadline: 120,
    retryLimit: 12,
    failedLogins: 8,
    fetchLimit: 256,
    gitEngine: 'direct',
    sweepInterval: 30,
    sweepFullInterval: 300,
    referenceScope: 'namespace',
    allowedRepositories: undefined,
    insecureHosts: [],
    delegation: { appliers: [], account: 'commitlet' },
    stampKey: undefined,
    defaults: undefined,
    knownHosts: undefined,
    requestedByTrailer: 'name',
    author: { name: 'Commitlet', email: 'commitlet@users.noreply.local' },
    tempDir: '/tmp',
    proxies: { proxy: undefined, exceptions: [] },
    surroundings: { inCluster: false, apiServer: [] },
    logLevel: 'info',
  })
})

t.test('a wrong value is one sentence naming the variable, what it holds and what it may hold', async (t) => {
  const cases = [
    [{ PORT: 'http' }, 'PORT is "http", but has to be a whole number from 0 to 65535.'],
    [{ GIT_ENGINE: 'jgit' }, 'GIT_ENGINE is "jgit", but has to be one of direct, binary.'],
    [{ ATTEMPT_DEADLINE: '0' }, 'ATTEMPT_DEADLINE is "0", but has to be a whole number from 1 to 540.'],
    [{ RETRY_LIMIT: '1e3' }, 'RETRY_LIMIT is "1e3", but has to be a whole number from 1 to 100.'],
    [
      { DEFAULT_GIT_TOKEN: 'x' },
      'DEFAULT_GIT_REPOSITORIES is not set, but has to list the repositories that the token of DEFAULT_GIT_TOKEN may go to, such as git.example.com/teams/{namespace}.',
    ],
    [
      { SSH_KNOWN_HOSTS: '/nowhere' },
      'SSH_KNOWN_HOSTS is "/nowhere", but has to be the path of a readable file in the format of known_hosts(5).',
    ],
    [
      { SSH_KNOWN_HOSTS: import.meta.dirname },
      `SSH_KNOWN_HOSTS is "${import.meta.dirname}", but has to be the path of a readable file in the format of known_hosts(5).`,
    ],
    [{ REFERENCE_SCOPE: 'all' }, 'REFERENCE_SCOPE is "all", but has to be one of namespace, any.'],
    [
      { LOG_LEVEL: 'loud' },
      'LOG_LEVEL is "loud", but has to be one of info, trace, debug, warn, error, fatal, silent.',
    ],
    [
      { REQUESTED_BY_TRAILER: 'email' },
      'REQUESTED_BY_TRAILER is "email", but has to be one of name, hash, off.',
    ],
    [
      { STAMP_KEY_FILE: '/nowhere' },
      'STAMP_KEY_FILE is "/nowhere", but has to be the path of a readable file of 32 bytes or more.',
    ],
    [
      { ALLOWED_REPOSITORIES: 'github.com/acme,' },
      'ALLOWED_REPOSITORIES has the entry "", but each has to be [user@]host[:port][/path], such as git.example.com/acme.',
    ],
    [
      { DELEGATE_SERVICE_ACCOUNT: 'Commitlet' },
      'DELEGATE_SERVICE_ACCOUNT is "Commitlet", but has to be the name of a service account alone, such as commitlet.',
    ],
    [
      { INSECURE_HOSTS: '*.example.com' },
      'INSECURE_HOSTS has the entry "*.example.com", but each has to be host[:port] in lower case, such as git.example.com:8443, and never a wildcard.',
    ],
    [
      { HTTPS_PROXY: 'ftp://me:s3cret@proxy' },
      'HTTPS_PROXY has to be the address of an http or https proxy, such as http://user:password@proxy.example.com:3128, but is not.',
    ],
    [{ TMPDIR: '/nowhere' }, 'TMPDIR is "/nowhere", but has to be a folder that Commitlet may write to.'],
    [
      { TMPDIR: import.meta.filename },
      `TMPDIR is "${import.meta.filename}", but has to be a folder that Commitlet may write to.`,
    ],
    [{ TMPDIR: '/proc' }, 'TMPDIR is "/proc", but has to be a folder that Commitlet may write to.'],
    [
      { KUBERNETES_SERVICE_PORT: 'tcp' },
      'KUBERNETES_SERVICE_PORT is "tcp", but has to be a whole number from 1 to 65535.',
    ],
    [
      { CA_FILE: '/nowhere' },
      'CA_FILE is "/nowhere", but has to be the path of a readable PEM file with certificates.',
    ],
    [
      { COMMIT_AUTHOR_NAME: 'a <b>' },
      'COMMIT_AUTHOR_NAME is "a <b>", but has to be one line without < and > that is not punctuation alone.',
    ],
  ] as const
  for (const [env, message] of cases) t.throws(() => readConfig(env), new WrongSetting(message))
})

t.test('values are taken, an empty one is like none', async (t) => {
  const knownHosts = '# of the operator\n\ngit.example.com ssh-ed25519 AAAA\n'
  const dir = t.testdir({ 'ca.pem': '-----BEGIN CERTIFICATE-----\n', key: 'k'.repeat(48), knownHosts })
  const caFile = join(dir, 'ca.pem')
  const config = readConfig({
    PORT: '',
    CA_FILE: caFile,
    REFERENCE_SCOPE: 'any',
    STAMP_KEY_FILE: join(dir, 'key'),
    SSH_KNOWN_HOSTS: join(dir, 'knownHosts'),
    DEFAULT_GIT_TOKEN: 'tkn',
    DEFAULT_GIT_REPOSITORIES: 'git.example.com/acme',
    REQUESTED_BY_TRAILER: 'hash',
    COMMIT_AUTHOR_NAME: 'Acme Bot',
  })
  t.match(config, {
    port: 8080,
    caFile,
    referenceScope: 'any',
    knownHosts,
    defaults: { source: { token: 'tkn' }, repositories: 'git.example.com/acme' },
    requestedByTrailer: 'hash',
    author: { name: 'Acme Bot' },
  })
  t.equal(config.stampKey?.symmetricKeySize, 48)
})

t.test('what every container has shows the cluster and its API server', async (t) => {
  const { surroundings } = readConfig({
    KUBERNETES_SERVICE_HOST: '10.96.0.1',
    KUBERNETES_SERVICE_PORT: '6443',
  })
  t.same(surroundings, { inCluster: true, apiServer: [{ host: '10.96.0.1', port: 6443 }] })
})
