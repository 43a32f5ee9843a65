import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { pictureOf, type RecordedLine } from './picture.ts'

/**
 * `npm run record`: runs the demo on a terminal (script of util-linux) and draws what it printed into docs/demo.svg. Exits
 * with 1, and leaves the file as it is, if the demo failed.
 */
const ROOT = join(import.meta.dirname, '../..')
const COMMAND = 'npm run demo'
const TITLE =
  'A terminal in which npm run demo shows a commit, a pull request, a denial and a crash without consequences'

const lines: RecordedLine[] = [{ text: `\x1b[2m$\x1b[22m \x1b[1m${COMMAND}\x1b[22m`, atMs: 0 }]
const child = spawn('script', ['-qefc', 'node demo/start.cjs', '/dev/null'], {
  cwd: ROOT,
  env: { ...process.env, NO_COLOR: undefined },
  stdio: ['ignore', 'pipe', 'inherit'],
})
const began = performance.now()
createInterface({ input: child.stdout }).on('line', (text) => {
  lines.push({ text: text.trimEnd(), atMs: performance.now() - began })
})
const [code] = await once(child, 'close')
if (code === 0) await writeFile(join(ROOT, 'docs/demo.svg'), pictureOf(lines, TITLE))
else process.exitCode = 1
