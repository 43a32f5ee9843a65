import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import { limitReached, classify, rejection } from '../../../functions/git/output/classify.ts'

const context = {
  url: 'https://git.example.com/acme/shop.git',
  secrets: ['s3cret'],
  deadlineSeconds: 120,
  fetchLimitMiB: 256,
}

function meaningOf(stderr: string, exitCode: number | undefined = 128, seconds = 1) {
  return classify({ exitCode, stdout: '', stderr, seconds }, 'reading', context)
}

const U = context.url
// Recorded output of Git and of the hosts' servers.
const rows = [
  [
    'AuthenticationFailed',
    `fatal: could not read Username for 'https://git.example.com': terminal prompts disabled`,
  ],
  ['AuthenticationFailed', `remote: Failed to authenticate user\nfatal: Authentication failed for '${U}/'`],
  ['AuthenticationFailed', `error: RPC failed; HTTP 401 curl 22 The requested URL returned error: 401`],
  ['PermissionDenied', `fatal: unable to access '${U}/': The requested URL returned error: 403`],
  [
    'PermissionDenied',
    `error: RPC failed; HTTP 403 curl 22 The requested URL returned error: 403\nsend-pack: unexpected disconnect while reading sideband packet\nfatal: the remote end hung up unexpectedly`,
  ],
  ['RepositoryNotFound', `remote: Not found.\nfatal: repository '${U}/' not found`],
  ['RepositoryNotFound', `fatal: unable to access '${U}/': The requested URL returned error: 302`],
  ['RepositoryNotFound', `fatal: unable to access '${U}/': The requested URL returned error: 410`],
  ['RepositoryNotFound', `error: no DAV locking support on ${U}/\nfatal: git-http-push failed`],
  ['RateLimited', `fatal: unable to access '${U}/': The requested URL returned error: 429`],
  ['ProviderUnavailable', `fatal: unable to access '${U}/': The requested URL returned error: 408`],
  ['ProviderUnavailable', `error: RPC failed; HTTP 500 curl 22 The requested URL returned error: 500`],
  ['ProviderUnavailable', `fatal: unable to access '${U}/': The requested URL returned error: 503`],
  ['PushRejected', `error: RPC failed; HTTP 413 curl 22 The requested URL returned error: 413`],
  ['PushRejected', `fatal: unable to access '${U}/': The requested URL returned error: 422`],
  ['ProviderUnavailable', `fatal: remote error: this needs a licence`],
  ['ProviderUnavailable', `remote: warning: disk\nfatal: early end`],
  ['ProviderUnavailable', `remote: GitLab: Internal API unreachable\nfatal: early end`],
  ['NetworkError', `fatal: unable to access '${U}/': Could not resolve host: git.example.com`],
  [
    'NetworkError',
    `fatal: unable to access '${U}/': Failed to connect to git.example.com port 443 after 0 ms: Couldn't connect to server`,
  ],
  [
    'NetworkError',
    `fatal: unable to access '${U}/': gnutls_handshake() failed: The TLS connection was non-properly terminated.`,
  ],
  ['NetworkError', `fatal: unable to access '${U}/': GnuTLS recv error (-24): Decryption has failed.`],
  [
    'NetworkError',
    `error: RPC failed; curl 56 Recv failure: Connection reset by peer\nfatal: early EOF\nfatal: fetch-pack: invalid index-pack output`,
  ],
  ['NetworkError', `fatal: protocol error: bad pack header`],
  ['NetworkError', `error: RPC failed; HTTP 102 curl 52 Empty reply from server`],
  ['NetworkError', `fatal: Could not read from remote repository.`],
  [
    'Timeout',
    `fatal: unable to access '${U}/': Operation too slow. Less than 1 bytes/sec transferred the last 45 seconds`,
  ],
  [
    'Timeout',
    `error: RPC failed; curl 28 Operation too slow. Less than 1 bytes/sec transferred the last 45 seconds\nfatal: expected flush after ref listing`,
  ],
  [
    'Timeout',
    `fatal: unable to access '${U}/': Failed to connect to git.example.com port 443 after 130000 ms: Connection timed out`,
  ],
  [
    'TLSUntrusted',
    `fatal: unable to access '${U}/': server certificate verification failed. CAfile: none CRLfile: none`,
  ],
  [
    'TLSUntrusted',
    `fatal: unable to access '${U}/': SSL certificate problem: unable to get local issuer certificate`,
  ],
  ['TLSUntrusted', `fatal: unable to access '${U}/': SSL certificate problem: certificate has expired`],
  [
    'TLSUntrusted',
    `fatal: unable to access '${U}/': SSL: certificate subject name (a) does not match target host name 'b'`,
  ],
  [
    'TLSUntrusted',
    `fatal: unable to access '${U}/': SSL: no alternative certificate subject name matches target host name 'b'`,
  ],
  ['NotSupported', `fatal: mismatched algorithms: client sha1; server sha256`],
  [
    'NotSupported',
    `fatal: the receiving end does not support this repository's hash algorithm\nfatal: the remote end hung up unexpectedly`,
  ],
  ['NotSupported', `fatal: dumb http transport does not support shallow capabilities`],
  ['NotSupported', `error: index-pack died of signal 25\nfatal: fetch-pack: invalid index-pack output`],
  ['NotSupported', `fatal: write error: File too large\nfatal: fetch-pack: invalid index-pack output`],
  ['NotSupported', `fatal: Out of memory, malloc failed (tried to allocate 10 bytes)`],
  ['Internal', `error: cannot fork() for index-pack: Cannot allocate memory`],
  ['Internal', `fatal: fetch-pack: invalid index-pack output`],
  [
    'NotSupported',
    `error: object 4b825dc642cb6eb9a060e54bf8d69288fbee4904: hasDotgit: contains '.git'\nfatal: fsck error in packed object`,
  ],
  ['Internal', `fatal: unable to write new packfile`],
  ['Internal', `fatal: not a git repository: '/x'`],
  ['Internal', `fatal: bad config line 1 in file config`],
  ...[
    'fatal: protocol error: bad band #9',
    'fatal: invalid length read 1',
    'error: no such remote ref refs/heads/main',
    'warning: lazy fetching disabled; some objects may not be available\nfatal: could not fetch 4b825dc642cb6eb9a060e54bf8d69288fbee4904 from promisor remote',
    'fatal: protocol error: unexpected capabilities^{}',
    `fatal: protocol error: expected sha/ref, got 'x'`,
    `fatal: git fetch-pack: expected ACK/NAK, got 'x'`,
    'fatal: git fetch-pack: expected shallow list',
    `fatal: expected 'packfile', received 'x'`,
    'fatal: expected shallow/unshallow, got x',
    'fatal: invalid ls-refs response: x',
    'fatal: invalid shallow line: x',
    'fatal: remote-curl: unexpected response end packet',
    'fatal: the remote server sent unexpected response end packet',
    `fatal: unexpected acknowledgment line: 'x'`,
    `fatal: malformed response in ref list: x`,
    'error: unable to parse remote unpack status: x',
    `fatal: unknown object format 'x' specified by server`,
    'fatal: remote did not send all necessary objects',
    `fatal: pack signature mismatch\nfatal: fetch-pack: invalid index-pack output`,
    `fatal: pack has bad object at offset 12: inflate returned -3\nfatal: fetch-pack: invalid index-pack output`,
    `fatal: pack has 1 unresolved delta\nfatal: fetch-pack: invalid index-pack output`,
    'fatal: pack is corrupted (SHA1 mismatch)',
    `error: missing blob object '${'1'.repeat(40)}'`,
    `fatal: unable to parse commit ${'1'.repeat(40)}`,
  ].map((line) => ['ProviderUnavailable', line] as const),
] as const
for (const [reason, stderr] of rows) {
  t.test(`${reason}: ${stderr.split('\n').at(0) ?? ''}`, async (t) => {
    const meaning = meaningOf(stderr)
    t.match(meaning, { reason })
    t.ok(meaning instanceof Failure && meaning.message.includes(U), 'says where')
    t.match(meaning instanceof Failure ? meaning.message : '', /^[^\n]+[.]$/, 'is one sentence')
  })
}

const words = [
  ['absent', `fatal: couldn't find remote ref refs/heads/main`],
  ['nothing newer', 'fatal: error processing shallow info: 4'],
  ['race', `fatal: remote error: upload-pack: not our ref ${'1'.repeat(40)}`],
] as const
for (const [word, stderr] of words) {
  t.test(`${word}: ${stderr}`, async (t) => t.equal(meaningOf(stderr), word))
}

// An error of a side band may have several lines, and Git puts `remote:` before the first alone.
const beyondServer = [
  'Could not resolve proxy: proxy.example.com',
  'CONNECT tunnel failed, response 407',
  'CONNECT tunnel failed, response 403',
  'CONNECT tunnel failed, response 502',
  'Could not resolve host: git.example.com',
  'Failed to connect to git.example.com port 443',
  'SSL certificate problem: self signed certificate',
  'SSL certificate problem: certificate has expired',
  'SSL: no alternative certificate subject name matches',
]
for (const words of beyondServer) {
  t.test(`a server that has spoken cannot say for git: ${words}`, async (t) => {
    const line = `fatal: unable to access '${U}/': ${words}`
    const [own, faked] = [meaningOf(line), meaningOf(`remote: a\n${line}\nfatal: early EOF`)]
    t.match(faked, { reason: 'NetworkError', message: /closed the connection in the middle of the exchange/ })
    t.notMatch(own, { message: /closed the connection/ })
  })
}

t.test('output of the server is not taken for that of git', async (t) => {
  const meaning = meaningOf(
    `remote: fatal: couldn't find remote ref main\nremote: The requested URL returned error: 401\nfatal: early EOF`,
  )
  t.match(meaning, { reason: 'NetworkError' })
})

t.test('a machine without memory is distinguished from a repository that is too large', async (t) => {
  const fork = 'error: cannot fork() for index-pack: Cannot allocate memory'
  t.match(meaningOf(fork), { retry: 'transient', message: /out of memory/ })
  t.match(meaningOf('fatal: Out of memory, malloc failed'), {
    retry: 'slow',
    message: /more refs or objects/,
  })
  t.match(meaningOf('fatal: write error: File too large'), { retry: 'slow', message: /than 256 MiB/ })
})

t.test('the limit that git has reached is read from its own lines alone', async (t) => {
  const reached = (stderr: string) => limitReached({ exitCode: 128, stdout: '', stderr, seconds: 1 })
  t.equal(reached('fatal: Out of memory, realloc failed'), 'memory')
  t.equal(reached('fatal: cannot create async thread: Resource temporarily unavailable'), 'memory')
  t.equal(reached('fatal: write error: File too large\nfatal: fetch-pack: invalid index-pack output'), 'size')
  t.equal(
    reached('error: index-pack died of signal 24\nfatal: fetch-pack: invalid index-pack output'),
    'time',
  )
  t.equal(limitReached({ exitCode: 152, stdout: '', stderr: '', seconds: 1 }), 'time')
  t.equal(reached('remote: fatal: Out of memory, File too large\nfatal: early EOF'), undefined)
  const trace = 'warning: unable to write trace for GIT_TRACE_PACKET: File too large'
  t.equal(reached(`${trace}\nfatal: early EOF`), undefined)
  t.equal(reached(`${trace}\nfatal: write error: File too large`), 'size')
})

t.test('authority, name and time of a certificate are distinguished where git does', async (t) => {
  t.match(meaningOf('SSL certificate problem: certificate has expired'), {
    message: /has expired or is not valid yet/,
  })
  t.match(meaningOf('SSL certificate problem: self signed certificate'), { message: /CA_FILE/ })
  t.match(meaningOf('SSL: no alternative certificate subject name matches'), { message: /another name/ })
})

t.test('Retry-After is passed on, and with 403 it means slow down', async (t) => {
  const header = '12:00:00.123456 http.c:725              <= Recv header: Retry-After: 77\n'
  t.match(meaningOf(`${header}fatal: unable to access 'x': The requested URL returned error: 403`), {
    reason: 'RateLimited',
    retryAfterSeconds: 77,
  })
  t.match(meaningOf(`${header}fatal: unable to access 'x': The requested URL returned error: 503`), {
    reason: 'ProviderUnavailable',
    retryAfterSeconds: 77,
  })
})

t.test('a git process that the deadline ended is a Timeout, one that ended otherwise is not', async (t) => {
  t.match(classify({ exitCode: undefined, stdout: '', stderr: '', seconds: 120.1 }, 'reading', context), {
    reason: 'Timeout',
    message: /120 seconds/,
  })
  t.match(classify({ exitCode: undefined, stdout: '', stderr: '', seconds: 3 }, 'push', context), {
    reason: 'Internal',
  })
})

t.test(
  'a git that has taken all of its time of the processor has too much work, and is no bug',
  async (t) => {
    const meanings = [
      meaningOf('', 152),
      meaningOf('error: index-pack died of signal 24\nfatal: fetch-pack: invalid index-pack output'),
    ]
    for (const meaning of meanings)
      t.match(meaning, {
        reason: 'NotSupported',
        message: `${U} is more work for Git than one attempt may do`,
      })
  },
)

t.test('a machine without the programs is reported to the operator', async (t) => {
  t.match(meaningOf('./launch: 5: exec: setpriv: not found', 127), {
    reason: 'Internal',
    message: /is not installed/,
  })
})

t.test('an error that nobody knows is a refusal of a push alone, and a final one of none', async (t) => {
  const stderr = 'fatal: remote error: aborting due to possible repository corruption on the remote side.'
  const down = {
    reason: 'ProviderUnavailable',
    message: `${U} does not serve Git and reports "aborting due to possible repository corruption on the remote side."; Commitlet retries automatically.`,
  }
  t.match(meaningOf(stderr), down)
  const ended = { exitCode: 128, stdout: '', stderr, seconds: 1 }
  t.match(classify(ended, 'push', context), { reason: 'PushRejected', retry: 'slow' })
  t.match(classify({ ...ended, exitCode: 1 }, 'push', context), down, 'in place of its report')
})

t.test("the remote's message is quoted without secrets, or its absence is reported", async (t) => {
  t.match(rejection('no s3cret here', context), {
    reason: 'PushRejected',
    message: `${U} refuses the commit and reports "no *** here"; use another branch or path, or ask a maintainer of the repository.`,
  })
  t.match(rejection('', context), { message: /without a reason/ })
  t.match(rejection('no', { ...context, secrets: ['x'.repeat(65_537)] }), {
    message: /refuses the commit and reports something that cannot be shown; use another branch/,
  })
})

t.test('a host that answers like an empty one for a while is asked again', async (t) => {
  const stderr = 'fatal: dumb http transport does not support shallow capabilities\n'
  t.match(classify({ exitCode: 128, stdout: '', stderr, seconds: 1 }, 'reading', context), {
    reason: 'NotSupported',
    retry: 'slow',
  })
})
