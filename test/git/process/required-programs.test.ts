import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import t from 'tap'
import { launcherScript } from '../../../functions/git/process/launcher-script.ts'
import { requirePrograms } from '../../../functions/git/process/required-programs.ts'

const PACKAGES = { sh: 'dash', git: 'git', nice: 'coreutils', setpriv: 'util-linux', timeout: 'coreutils' }
const PROGRAMS = Object.keys(PACKAGES)

t.test('the programs of the launcher may be in any folder of PATH', async (t) => {
  for (const program of PROGRAMS) t.match(launcherScript(), new RegExp(`\\b${program}\\b`))
  const dir = t.testdir({ one: { sh: '', git: '' }, two: { nice: '', setpriv: '', timeout: '' } })
  for (const file of ['one/sh', 'one/git', 'two/nice', 'two/setpriv', 'two/timeout'])
    await chmod(join(dir, file), 0o755)
  requirePrograms(['', '/nonexistent', join(dir, 'one'), join(dir, 'two')].join(delimiter))
  t.throws(() => requirePrograms(join(dir, 'one')), { message: /\bnice is not/ })
})

t.test('what is missing is named, with the package that it belongs to', async (t) => {
  for (const [missing, name] of Object.entries(PACKAGES)) {
    const dir = t.testdir(Object.fromEntries(PROGRAMS.map((program) => [program, ''])))
    for (const program of PROGRAMS) await chmod(join(dir, program), program === missing ? 0o644 : 0o755)
    const sentence = new RegExp(`^[^\n]*\\b${missing} is not[^\n]*\\b${name}\\b[^\n]*\\.$`)
    t.throws(() => requirePrograms(dir), { message: sentence }, missing)
  }
})

t.test('a folder of that name is not the program', async (t) => {
  const dir = t.testdir({})
  for (const program of PROGRAMS.slice(1)) await writeFile(join(dir, program), '', { mode: 0o755 })
  await mkdir(join(dir, 'sh'))
  t.throws(() => requirePrograms(dir), { message: /\bsh is not/ })
})

t.test('the whole sentence', async (t) => {
  t.throws(() => requirePrograms('/nonexistent'), {
    message:
      'The program sh is not in a folder of PATH ("/nonexistent"); install a POSIX shell (the package dash) and start again.',
  })
})
