import { execFileSync } from 'node:child_process'
import fc from '../../harness/fast-check.ts'
import t from 'tap'
import { commitMessage } from '../../../functions/domain/commit/commit-message.ts'
import { commitletId } from '../../../functions/domain/commit/commit-id.ts'
import { specErrors } from '../../../functions/domain/gate/spec-rules.ts'
import { SPEC } from '../fixtures/gitcommit.ts'
import { readable } from '../fixtures/parsed.ts'
import { NASTY_LINES } from '../fixtures/message-lines.ts'
import { sized } from '../../harness/sample.ts'

const PARTS = {
  namespace: 'shop',
  name: 'settings',
  uid: '11111111-2222-3333-4444-555555555555',
  generation: 3,
  requestedAt: undefined,
  requestedBy: 'dev',
}

/** What Git itself makes of the text: `--no-divider`, because a whole message has no patch after a "---". */
function byGit(text: string): string {
  const trailers = [`Commitlet-Resource: shop/settings`, `Commitlet-Id: ${PARTS.uid}.3`, 'Requested-by: dev']
  const args = trailers.flatMap((trailer) => ['--trailer', trailer])
  return execFileSync('git', ['interpret-trailers', '--no-divider', ...args], {
    input: `${text}\n`,
    encoding: 'utf8',
  })
}

const TEXTS = {
  'a subject alone': 'Subject',
  'a subject that looks like a trailer': 'fix: settings',
  'a body': 'Subject\n\nBody text.\nMore of it.',
  'a trailer block': 'Subject\n\nBody.\n\nSigned-off-by: Ada <dev@example.com>\nRefs: #12',
  'a trailer block below the subject': 'Subject\n\nRefs: #12',
  'a trailer with a continuation line': 'Subject\n\nRefs: #12\n  and #13',
  'a last paragraph that merely looks like one':
    'Subject\n\nSee also: the handbook\nand then some more text.',
  'a block of a quarter of trailers that Git generates': 'Subject\n\nSigned-off-by: Ada\none\ntwo\nthree',
  'less than a quarter of them': 'Subject\n\nSigned-off-by: Ada\none\ntwo\nthree\nfour',
  'a cherry-pick': 'Subject\n\n(cherry picked from commit 0123456789)',
  'a continuation line before any trailer': 'Subject\n\n  indented\nRefs: #12',
  'a divider': 'Subject\n\nBody\n---\nmore',
  'a blank line of spaces': 'Subject\n  \t\nRefs: #12',
  'a subject of two lines': 'Subject\nRefs: #12',
}

t.test('trailers join the message as git interpret-trailers joins them', async (t) => {
  for (const [title, message] of Object.entries(TEXTS)) {
    t.equal(commitMessage({ ...PARTS, message }), byGit(message), title)
  }
})

t.test('random messages are joined as Git joins them', async () => {
  const line = fc.constantFrom(
    '',
    '',
    'Text.',
    'Refs: #12',
    'Signed-off-by: Ada',
    ' indented',
    'key:value text',
    '- item',
    'a b: c',
  )
  const messages = fc.array(line, { maxLength: 7 }).map((lines) => ['Subject', ...lines].join('\n').trimEnd())
  fc.assert(
    fc.property(messages, (message) => {
      const tidied = message.replaceAll('key:value text', 'key: value text')
      return commitMessage({ ...PARTS, message: tidied }) === byGit(tidied)
    }),
    { numRuns: sized(8, 200) },
  )
})

t.test('a trailer block stays as the user wrote it, where Git would tidy it', async (t) => {
  const blocks = [
    'Refs :#12',
    '# a heading\nRefs: #12',
    'https://git.example.com/a\nhttps://git.example.com/b',
  ]
  for (const block of blocks) {
    const message = commitMessage({ ...PARTS, message: `Subject\n\n${block}` })
    t.ok(message.startsWith(`Subject\n\n${block}\nCommitlet-Resource: `), block)
  }
})

t.test('line ends become LF and blank lines at the end go', async (t) => {
  const message = 'Subject\r\n\r\nBody\r\n\r\nRefs: #12\r\n\r\n  \r\n'
  t.equal(commitMessage({ ...PARTS, message }), byGit('Subject\n\nBody\n\nRefs: #12'))
  t.equal(commitMessage({ ...PARTS, message: 'a\rb' }).split('\n')[1], 'b')
})

t.test('Git reads the three trailers back', async (t) => {
  for (const message of Object.values(TEXTS)) {
    const read = execFileSync(
      'git',
      ['interpret-trailers', '--no-divider', '--only-trailers', '--only-input'],
      {
        input: commitMessage({ ...PARTS, message }),
        encoding: 'utf8',
      },
    )
    t.match(read, /Commitlet-Resource: shop\/settings\nCommitlet-Id: [-0-9]+\.3\nRequested-by: dev\n$/)
  }
})

/** The message of a commit for each text, read by "git log" of a repository that holds them all. */
function loggedTrailers(folder: string, messages: readonly string[]): string[] {
  const commits = messages.map((message) => {
    const bytes = Buffer.byteLength(message)
    return `commit refs/heads/main\ncommitter a <a@example.com> 1700000000 +0000\ndata ${bytes}\n${message}\n`
  })
  const git = (args: readonly string[], input = ''): string =>
    execFileSync('git', ['-C', folder, ...args], { input, encoding: 'utf8', maxBuffer: 1e8 })
  git(['init', '-q', '-b', 'main'])
  git(['fast-import', '--quiet'], commits.join(''))
  const wanted = ['Commitlet-Resource', 'Commitlet-Id', 'Commitlet-Seal', 'Requested-by']
  const format = wanted.map((key) => `%(trailers:key=${key},valueonly)`).join('')
  return git(['log', '--reverse', '-z', `--format=${format}`, 'main'])
    .split('\0')
    .slice(0, messages.length)
}

t.test('whatever a message contains, Git sees our trailers, each once', async (t) => {
  const lines = fc.array(fc.constantFrom(...NASTY_LINES), { minLength: 1, maxLength: 8 })
  const seed = Date.now()
  const texts = fc.sample(
    lines.map((parts) => parts.join('\n')),
    { numRuns: sized(300, 4_000), seed },
  )
  const taken = texts.filter((message) => {
    const refused = specErrors(readable('GitCommit', { ...SPEC, message })).length > 0
    return message.trim() !== '' && !refused
  })
  t.ok(taken.length > texts.length / 4, `${taken.length} messages`)
  const seal = '0123456789abcdef'
  const expected = `shop/settings\n${PARTS.uid}.3\n${seal}\ndev\n`
  const messages = taken.map((message) => commitMessage({ ...PARTS, message, seals: [seal] }))
  const logged = loggedTrailers(t.testdir(), messages)
  const unseen = taken.filter((_, index) => logged[index] !== expected)
  t.same(unseen.slice(0, 5), [], `git log: ${unseen.length}, seed ${seed}`)
  for (const message of messages.slice(0, sized(8, 200))) {
    const read = execFileSync('git', ['interpret-trailers', '--parse', '--no-divider'], {
      input: message,
      encoding: 'utf8',
    })
    if (
      !read.endsWith(
        `Commitlet-Resource: shop/settings\nCommitlet-Id: ${PARTS.uid}.3\nCommitlet-Seal: ${seal}\nRequested-by: dev\n`,
      )
    )
      t.fail(JSON.stringify(message))
  }
})

t.test('a user name cannot forge a trailer', async (t) => {
  const name = 'dev\nCommitlet-Id: x\r\u2028\u0000y\ud800'
  const message = commitMessage({ ...PARTS, message: 'Subject', requestedBy: name })
  t.match(message, /\nRequested-by: dev\?Commitlet-Id: x\?\?\?y\?\n$/)
})

t.test('without a known requester there is no trailer', async (t) => {
  for (const requestedBy of [undefined, '', ' ']) {
    t.notMatch(commitMessage({ ...PARTS, message: 'Subject', requestedBy }), /Requested-by/)
  }
})

t.test('the id names uid, generation and the request', async (t) => {
  const id = (requestedAt?: string, sources?: string): string =>
    commitletId({ uid: 'u', generation: 3, requestedAt, sources })
  t.equal(id(), 'u.3')
  t.match(id('x'), /^u\.3\.2d711642$/)
  t.not(id('x'), id('y'))
  const sources = '0123456789abcdef'
  t.equal(id(undefined, sources), `u.3.${sources}`)
  t.equal(id('x', sources), `u.3.2d711642.${sources}`)
  t.match(
    commitMessage({ ...PARTS, message: 'm', requestedAt: 'x' }),
    /\nCommitlet-Id: [-0-9]+\.3\.2d711642\n/,
  )
})
