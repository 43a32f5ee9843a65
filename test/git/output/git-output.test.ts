import t from 'tap'
import { classify, limitReached, withRanOut } from '../../../functions/git/output/classify.ts'
import { readGitOutput, readPushReport, withOutput } from '../../../functions/git/output/git-output.ts'
import { cpuTime } from '../../harness/cpu-time.ts'
import { allowedMs } from '../../harness/growth.ts'

function speechOf(stderr: string) {
  return readGitOutput({ exitCode: 1, stdout: '', stderr, seconds: 1 }, new Date('2026-11-21T12:00:00Z'))
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
    t.match(readPushReport(`To https://git.example.com/a.git\n${line}\nDone\n`), expected)
  })
}

t.test('the ref that a refusal is about is its full destination', async (t) => {
  t.match(readPushReport('!\t1:refs/tags/refs/heads/main\t[rejected] (stale info)\nDone\n'), {
    ref: 'refs/tags/refs/heads/main',
    rejected: 'stale info',
  })
  t.equal(readPushReport('*\t1:refs/heads/main\t[new branch]\nDone\n').ref, undefined)
})

t.test('a reason that a server gives is no second result', async (t) => {
  const reason = 'no\r!\ta:b\t[rejected] (stale info)'
  t.match(readPushReport(`!\ta:b\t[remote rejected] (${reason})\nDone\n`), {
    rejected: undefined,
    remoteRejected: reason,
  })
})

t.test('a list of refs of 16 MiB is no message of git, and takes no time', async (t) => {
  const stdout = `${'1'.repeat(40)}\trefs/heads/topic/${'x'.repeat(20)}\n`.repeat(210_000)
  const before = cpuTime()
  readGitOutput({ exitCode: 0, stdout, stderr: '', seconds: 1 })
  t.ok(cpuTime() - before < allowedMs(1))
})

t.test('the messages of a git are sorted once, whoever asks what they mean', async (t) => {
  let reads = 0
  const ended = {
    exitCode: 128,
    stdout: '',
    seconds: 1,
    get stderr() {
      reads += 1
      return 'fatal: early EOF\n'
    },
  }
  const read = withRanOut(withOutput(ended), 1)
  limitReached(read)
  classify(read, 'reading', {
    url: 'https://git.example.com/a.git',
    secrets: [],
    deadlineSeconds: 1,
    fetchLimitMiB: 1,
  })
  t.equal(readGitOutput(read).own, 'fatal: early EOF')
  t.equal(reads, 2, 'the second time to copy it')
})
