import t from 'tap'
import { hasMovedLine } from '../../../functions/domain/repository/moved-words.ts'
import { cpuTime } from '../../harness/cpu-time.ts'
import { allowedMs } from '../../harness/growth.ts'
import { SAID } from '../fixtures/moved-sayings.ts'

t.test('a text has a line of each form that counts where a host prints it, or its beginning', async (t) => {
  for (const [words] of SAID)
    for (const text of [
      words,
      words.toUpperCase(),
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
    'Monorepo moved to pnpm',
    'chore: the repository was moved to https://git.example.com/market/new',
    'as the project\nwas renamed',
    '# This repository has moved to https://git.example.com/market/new',
    'On a day when the project is renamed.',
    '{"message":"This repository moved."}',
  ])
    t.notOk(hasMovedLine(text), text)
})

t.test('the longest message and a large file are searched in a moment', async (t) => {
  for (const part of ["project '", '"repo "', 'the ', 'project a/a', '\nproject a/', ' \t', '\n']) {
    const before = cpuTime()
    hasMovedLine(part.repeat(4_000_000 / part.length))
    t.ok(cpuTime() - before < allowedMs(100), `${JSON.stringify(part)}: ${cpuTime() - before} ms`)
  }
})
