import t from 'tap'
import { readGitOutput } from '../../../functions/git/output/git-output.ts'

function speechOf(stderr: string, stdout = '') {
  return readGitOutput({ exitCode: 1, stdout, stderr, seconds: 1 }, new Date('2026-11-21T12:00:00Z'))
}

t.test('lines of the server are distinguished from those of git', async (t) => {
  const speech = speechOf(
    '\nremote: fatal: repository not found\r\nremote:\nfatal: the remote end hung up unexpectedly\n',
  )
  t.match(speech, {
    own: 'fatal: the remote end hung up unexpectedly',
    remote: 'fatal: repository not found\n',
  })
})

t.test("an error of the server with several lines remains the server's", async (t) => {
  const speech = speechOf("fatal: remote error: busy\nfatal: repository 'x' not found\n")
  t.match(speech, { own: '', remote: "busy\nfatal: repository 'x' not found" })
})

t.test('the trace of the headers is not output', async (t) => {
  const speech = speechOf(
    '12:00:00.123456 http.c:725              => Send header: Authorization: Basic <redacted>\nerror: a\n',
  )
  t.match(speech, { own: 'error: a', remote: '', retryAfterSeconds: undefined })
})

const TRACED = '12:00:00.123456 http.c:725              <= Recv header: '
const waits = [
  { header: 'Retry-After: 77', seconds: 77 },
  { header: 'retry-after: 5', seconds: 5 },
  { header: 'Retry-After: Sat, 21 Nov 2026 12:01:00 GMT', seconds: 60 },
  { header: 'Retry-After: Sat, 21 Nov 2026 11:00:00 GMT', seconds: 0 },
  { header: 'Retry-After: soon', seconds: undefined },
  {
    header: `Date: Sat, 21 Nov 2026 10:59:00 GMT\n${TRACED}Retry-After: Sat, 21 Nov 2026 11:00:00 GMT`,
    seconds: 60,
  },
]
for (const { header, seconds } of waits) {
  t.test(`"${header}" means ${seconds ?? 'nothing'}`, async (t) => {
    t.equal(speechOf(`${TRACED}${header}\n`).retryAfterSeconds, seconds)
  })
}

const refs = [
  {
    line: '!\ta:b\t[rejected] (stale info)',
    rejected: 'stale info',
    remoteRejected: undefined,
    unreported: false,
  },
  {
    line: '!\ta:b\t[remote rejected] (hook (x) declined)',
    rejected: undefined,
    remoteRejected: 'hook (x) declined',
  },
  { line: '*\ta:b\t[new branch]', rejected: undefined, remoteRejected: undefined },
  { line: '!\ta:b\t[remote failure] (remote failed to report status)', unreported: true },
]
for (const { line, ...expected } of refs) {
  t.test(`the result in "${line}" is read`, async (t) => {
    t.match(speechOf('', `To https://git.example.com/a.git\n${line}\nDone\n`), expected)
  })
}
