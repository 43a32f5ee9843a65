import t from 'tap'
import { hasMovedLine, saysMoved } from '../../../functions/domain/repository/moved-words.ts'
import { cpuTime } from '../../harness/cpu-time.ts'
import { allowedMs } from '../../harness/growth.ts'
import { SAID } from '../fixtures/moved-sayings.ts'

// How a hook may print a message, of which these are the words of a host.
const PRINTED: Readonly<Record<string, (words: string) => string>> = {
  'as it is': (words) => words,
  'in another line': (words) => `Fix\n\n  ${words}\n\nMore`,
  'in the middle of a line': (words) => `Fix the link because ${words}`,
  'in lines of other lengths': (words) => words.replaceAll(' ', '\n'),
  'with more blanks': (words) => words.replaceAll(' ', ' \t '),
  'with other quotes': (words) => words.replaceAll(/['"]/g, '`').replace(/repo|project/i, '\\$&'),
  'in other letters': (words) => words.toUpperCase(),
}

for (const [how, print] of Object.entries(PRINTED)) {
  t.test(`a text says that the repository has moved: ${how}`, async (t) => {
    for (const [words] of SAID) t.ok(saysMoved(print(words)), print(words))
  })
}

t.test('a file has a line of each form that counts where a host prints it, or its beginning', async (t) => {
  for (const [words] of SAID)
    for (const text of [
      words,
      words.replace(/(moved|renamed|transferred|relocated)[^]*/, '$1 on Friday'),
      `# Shop\n\n${words}\n`,
      `data:\r  README: |\r    ${words}\r`,
    ])
      t.ok(hasMovedLine(text), text)
})

t.test('other texts and lines say nothing of it', async (t) => {
  for (const text of [
    '',
    'chore: settings',
    'Rename the project',
    'move the repository to the archive',
    'the remote repository, which they moved',
    'Repositories moved',
    'docs/moved/project.md',
    'projects/renamed.yaml',
    'project files moved',
  ]) {
    t.notOk(saysMoved(text), text)
    t.notOk(hasMovedLine(text), text)
  }
  for (const line of [
    '# This repository has moved to https://git.example.com/market/new',
    'On a day when the project is renamed.',
    '{"message":"This repository moved."}',
  ])
    t.notOk(hasMovedLine(line), line)
})

t.test('the longest message and a large file are searched in a moment', async (t) => {
  for (const part of ["project '", '"repo "', 'the ', 'project a/a', '\nproject a/', ' \t', '\n']) {
    const before = cpuTime()
    saysMoved(part.repeat(65_536 / part.length))
    hasMovedLine(part.repeat(4_000_000 / part.length))
    t.ok(cpuTime() - before < allowedMs(100), `${JSON.stringify(part)}: ${cpuTime() - before} ms`)
  }
})
