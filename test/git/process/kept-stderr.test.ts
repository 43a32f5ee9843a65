import t from 'tap'
import { redact } from '../../../functions/domain/redact.ts'
import { keepStderr } from '../../../functions/git/process/kept-stderr.ts'
import { readGitOutput } from '../../../functions/git/output/git-output.ts'
import { cpuTime } from '../../harness/cpu-time.ts'
import { allowedMs } from '../../harness/growth.ts'

const MIB = 1024 * 1024
const TRACED = '12:00:00.123456 http.c:725              '

/** What is kept of the text, if it comes in pieces of this size. */
function kept(text: string, size = 65_536): string {
  const stderr = keepStderr()
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size) stderr.add(bytes.subarray(at, at + size))
  return stderr.text()
}

function outputOf(text: string, size?: number) {
  return readGitOutput({ exitCode: 128, stdout: '', stderr: kept(text, size), seconds: 1 })
}

const SHORT = [
  '',
  `${TRACED}=> Send header: POST /acme/shop.git/git-upload-pack HTTP/1.1`,
  `${TRACED}<= Recv header: Retry-After: 76`,
  `${TRACED}<= Recv header: retry-after: 77`,
  `${TRACED}<= Recv header: x-other: 1`,
  'remote: one\rremote: two',
  'error: own words, which are much longer than the beginning of a line that says whose line it is',
  'remote: three',
  'fatal: the end\n',
].join('\n')

t.test('what is short is kept, whatever pieces it comes in', async (t) => {
  for (const size of [1, 7, 64, 10_000]) {
    t.match(outputOf(SHORT, size), {
      own: /^error: own words, .* whose line it is\nfatal: the end$/,
      remote: 'one\ntwo\nthree',
      retryAfterSeconds: 77,
      posts: 1,
    })
  }
  t.equal(outputOf('fatal: no line break').own, 'fatal: no line break')
})

for (const [title, line] of [
  ['short lines', 'remote: ab\n'],
  ['lines without an end', `remote: ${'ab'.repeat(MIB / 2)}`],
  ['progress', `remote: ${'ab'.repeat(20)}\r`],
] as const) {
  t.test(`of 4 MiB (${title}) both ends are kept, and the lines between that have a meaning`, async (t) => {
    const flood = line.repeat(Math.floor((2 * MIB) / line.length))
    const header = `${TRACED}<= Recv header: Retry-After: 77\n`
    const text = `remote: first\n${flood}\n${header}error: in between\n${flood}\nremote: last\nfatal: gone\n`
    const before = cpuTime()
    const stderr = kept(text)
    // Reads at the pace at which Git writes: ten times what it takes.
    t.ok(cpuTime() - before < 10_000)
    t.ok(stderr.length < 300 * 1024, `${stderr.length} characters`)
    const began = cpuTime()
    const output = readGitOutput({ exitCode: 128, stdout: '', stderr, seconds: 1 })
    t.ok(cpuTime() - began < allowedMs(100))
    t.match(output, { own: 'error: in between\nfatal: gone', retryAfterSeconds: 77 })
    t.match(output.remote, /^first\n[^]*\nlast$/)
  })
}

t.test('lines of the server are never taken for those of git, wherever the cut is', async (t) => {
  const endless = outputOf(`remote: ${'fatal: unable to access '.repeat(50_000)}`)
  t.equal(endless.own, '')
  const several = outputOf(`fatal: remote error: ${'fatal: unable to access\n'.repeat(50_000)}`)
  t.equal(several.own, '')
  t.match(several.remote, /^fatal: unable to access\n/)
})

t.test("git's own lines before the first of the server remain before it", async (t) => {
  const text = 'warning: a\nremote: b\nerror: c\nremote: d\nfatal: e\n'
  for (const size of [1, 7, 10_000])
    t.match(outputOf(text, size), {
      early: 'warning: a',
      own: 'warning: a\nerror: c\nfatal: e',
      remote: 'b\nd',
    })
})

t.test('a secret that the cut divides is not shown, not even a part of it', async (t) => {
  const secret = 's3cr3t-t0ken-0f-the-team'
  for (const sign of ['x', '\u0001', '\u20ac']) {
    const filling = sign.repeat(Math.floor((192 * 1024 - 20) / Buffer.byteLength(sign)))
    const words = outputOf(`remote: ${filling}${secret}\n${'remote: more\n'.repeat(100_000)}`).remote
    t.notMatch(redact(words, [secret]), /s3c|ken-|team/)
  }
})
