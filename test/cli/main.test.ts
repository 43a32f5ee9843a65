import { execFile } from 'node:child_process'
import { symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'

const CLI = join(import.meta.dirname, '../../cli')
const run = promisify(execFile)

t.test('the sources run as they are, and through the launcher under any name', async (t) => {
  const version = /^\d+\.\d+\.\d+\n$/
  t.match((await run(process.execPath, [join(CLI, 'main.ts'), '--version'])).stdout, version)
  const plugin = join(t.testdir(), 'kubectl-commitlet')
  await symlink(join(CLI, 'commitlet.cjs'), plugin)
  t.match((await run(process.execPath, [plugin, '--version'])).stdout, version)
})

t.test('the exit code is that of the command, and help is written whole into a pipe', async (t) => {
  const ended = await run(process.execPath, [join(CLI, 'main.ts'), 'check']).catch((error: unknown) => error)
  t.match(ended, { code: 2, stdout: '', stderr: /^commitlet: Name one object/ })
  const { stdout } = await run(process.execPath, [join(CLI, 'main.ts'), 'man'])
  t.match(stdout, /NO_COLOR/)
})
