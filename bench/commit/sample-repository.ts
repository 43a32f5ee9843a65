import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { GitRepository } from '../../test/harness/git-repository.ts'

const FILES = 10_000
const FOLDERS = 500
const COMMITS = 1_000
const FILE_BYTES = 8_000
/** Where the benchmarks write: a path of typical depth. */
export const PATH = 'clusters/eu/apps/shop/settings.yaml'

/** Fills an empty repository: 10,000 files of 8 kB in 500 folders, 1,000 commits, packed with a bitmap. */
export async function fill(repository: GitRepository): Promise<void> {
  const child = spawn('git', ['fast-import', '--quiet', '--done'], {
    cwd: repository.path,
    stdio: ['pipe', 'inherit', 'inherit'],
  })
  const ended = once(child, 'exit')
  for (const chunk of history()) {
    if (!child.stdin.write(chunk)) await once(child.stdin, 'drain')
  }
  child.stdin.end('done\n')
  await ended
  await repository.git('repack', '-q', '-a', '-d', '-b')
}

function* history(): Iterable<string> {
  for (let commit = 0; commit < COMMITS; commit += 1) {
    const message = `Commit ${commit}`
    yield `commit refs/heads/main\ncommitter Bench <bench@example.com> ${1_700_000_000 + commit * 60} +0000\n`
    yield `data ${message.length}\n${message}\n`
    const files = commit === 0 ? Array.from({ length: FILES }, (_, file) => file) : [commit % FILES]
    for (const file of files) yield edit(file, commit)
  }
}

function edit(file: number, commit: number): string {
  const content = words(`${file}/${commit}`)
  const folder = `clusters/region-${file % 5}/apps/app-${file % FOLDERS}`
  return `M 100644 inline ${folder}/file-${file}.yaml\ndata ${content.length}\n${content}\n`
}

/** Text that compresses about as well as configuration does. */
function words(seed: string): string {
  let content = ''
  for (let i = 0; content.length < FILE_BYTES; i += 1) {
    const noise = createHash('sha256').update(`${seed}/${i}`).digest('hex').slice(0, 24)
    content += `  setting-${i}:\n    value: ${noise}\n    enabled: true\n`
  }
  return content
}
