import { execFileSync } from 'node:child_process'
import t from 'tap'
import { endsInTrailers, trailerValues } from '../../../functions/domain/commit/trailers.ts'
import fc from '../../harness/fast-check.ts'
import { sized } from '../../harness/sample.ts'
import { NASTY_LINES } from '../fixtures/message-lines.ts'

const KEY = 'Commitlet-Id'
const OURS = `Commitlet-Resource: shop/settings\n${KEY}: u.1\nRequested-by: dev`
/** Where Git ends a message that is edited, which no commit of ours has. */
const ENDS = /^(?:Conflicts:|(?:# )?-+ >8 -+ ?)$/

/** What "git log" reads of each message, in a repository that holds them all. */
function loggedValues(folder: string, messages: readonly string[]): readonly string[] {
  const commits = messages.map(
    (message) =>
      `commit refs/heads/main\ncommitter a <a@example.com> 1700000000 +0000\ndata ${Buffer.byteLength(message)}\n${message}\n`,
  )
  const git = (args: readonly string[], input = ''): string =>
    execFileSync('git', ['-C', folder, ...args], { input, encoding: 'utf8', maxBuffer: 1e8 })
  git(['init', '-q', '-b', 'main'])
  git(['fast-import', '--quiet'], commits.join(''))
  return git(['log', '--reverse', '-z', `--format=%(trailers:key=${KEY},valueonly,unfold)`, 'main'])
    .split('\0')
    .slice(0, messages.length)
}

t.test('Git reads the same values of any message, with blank lines and comments of any kind', async (t) => {
  const plain = NASTY_LINES.filter((line) => !ENDS.test(line))
  const line = fc.constantFrom(...plain, ' ', '\t', `${KEY}: x.1`)
  const some = fc.array(line, { maxLength: 5 })
  const blanks = fc.constantFrom('', ' ', '\t', ' \t', '\r', '\n \n', 'Refs: #12')
  const lines = fc
    .tuple(
      some,
      blanks,
      fc.constantFrom('Refs: #12', ' continued', '# comment', OURS),
      fc.constant(OURS),
      some,
    )
    .map((parts) => parts.flat())
  const seed = Date.now()
  const messages = fc.sample(
    lines.map((parts) => `${parts.join('\n')}\n`),
    { numRuns: sized(1_000, 10_000), seed },
  )
  const logged = loggedValues(t.testdir(), messages)
  const ours = messages.map((message) =>
    trailerValues(message, KEY)
      .map((value) => `${value}\n`)
      .join(''),
  )
  t.ok(ours.filter((values) => values !== '').length > messages.length / 10)
  const wrong = messages.filter((_, i) => logged[i] !== ours[i])
  t.same(wrong.slice(0, 5), [], `${wrong.length}, seed ${seed}`)
})

t.test('a line of blanks ends the paragraph before the trailers', async (t) => {
  for (const line of ['', ' ', '\t', '  \t'])
    t.same(trailerValues(`Subject\n${line}\nRefs: #12\n${OURS}\n`, KEY), ['u.1'], JSON.stringify(line))
  t.notOk(endsInTrailers('Subject\nRefs: #12'), 'the title is none')
})
