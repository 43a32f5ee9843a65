import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import type { GitRepository } from '../../test/harness/git-repository.ts'

/** What a repository holds: files of so many bytes, and a history of so many commits that change one file each. */
export interface RepositorySize {
  readonly files: number
  readonly commits: number
  readonly bytes: number
}

const FOLDERS = 500
const REGIONS = 5
/** Of one setting in a file, and of what differs in it. */
const LINE_BYTES = 65
const NOISE_BYTES = 12

/** Where the benchmarks write: a path of typical depth, in a folder that a large enough repository has. */
export function samplePath(index: number, name: string): string {
  return `${folderOf(index)}/${name}.yaml`
}

/** Fills an empty repository, and packs it with a bitmap, without looking for deltas. Files are in folders of a typical depth, at most 500 folders. */
export async function fill(repository: GitRepository, size: RepositorySize): Promise<void> {
  const child = spawn('git', ['fast-import', '--quiet', '--done'], {
    cwd: repository.path,
    stdio: ['pipe', 'inherit', 'inherit'],
  })
  const ended = once(child, 'exit')
  for (const chunk of history(size)) {
    if (!child.stdin.write(chunk)) await once(child.stdin, 'drain')
  }
  child.stdin.end('done\n')
  await ended
  await repository.git('repack', '-q', '-a', '-d', '-b', '--window=0')
}

function* history({ files, commits, bytes }: RepositorySize): Iterable<string> {
  for (let commit = 0; commit < commits; commit += 1) {
    const message = `Commit ${commit}`
    yield `commit refs/heads/main\ncommitter Bench <bench@example.com> ${1_700_000_000 + commit * 60} +0000\n`
    yield `data ${message.length}\n${message}\n`
    const changed = commit === 0 ? Array.from({ length: files }, (_, file) => file) : [commit % files]
    for (const file of changed) yield edit(file, words(`${file}/${commit}`, bytes))
  }
}

function edit(file: number, content: string): string {
  const path = samplePath(file, `file-${file}`)
  return `M 100644 inline ${path}\ndata ${content.length}\n${content}\n`
}

function folderOf(index: number): string {
  return `clusters/region-${index % REGIONS}/apps/app-${index % FOLDERS}`
}

/** Text that compresses about as well as configuration does. */
function words(seed: string, bytes: number): string {
  const lines = Math.ceil(bytes / LINE_BYTES)
  const noise = createHash('shake256', { outputLength: lines * NOISE_BYTES })
    .update(seed)
    .digest('hex')
  const settings = Array.from({ length: lines }, (_, line) => {
    const value = noise.slice(line * NOISE_BYTES * 2, (line + 1) * NOISE_BYTES * 2)
    return `  setting-${line}:\n    value: ${value}\n    enabled: true\n`
  })
  return settings.join('')
}
