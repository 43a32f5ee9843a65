import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import type { Change, Landed } from '../../functions/domain/commit/change.ts'
import type { Failure } from '../../functions/domain/failure.ts'
import { land } from '../../functions/git/writer/land.ts'
import type { GitRepository } from '../harness/git-repository.ts'
import { SEED } from '../harness/sample.ts'
import { endingsOf, patience, pending, type EngineName, type Stage } from './stage.ts'

const run = promisify(execFile)
const seed = process.env[SEED] ?? 'none'

/** A number below `below` that depends on the seed and the name alone. */
export function chance(name: string, below: number): number {
  return createHash('sha256').update(`${seed} ${name}`).digest().readUInt32BE() % below
}

/** Lands these changes as one batch. */
export async function landAll(
  stage: Stage,
  { engine, repository }: { readonly engine: EngineName; readonly repository: GitRepository },
  changes: readonly Change[],
): Promise<readonly (Landed | Failure | undefined)[]> {
  const batch = changes.map((change) => pending(change))
  return stage.remote(engine, repository.url, (remote) =>
    endingsOf(batch, land(remote, { batch, signal: patience(120_000) })),
  )
}

/** A commit as it was signed, its signature, and the commit as it is. */
export async function partsOf(
  repository: GitRepository,
  name: string,
): Promise<{ readonly commit: Buffer; readonly signature: string; readonly whole: Buffer }> {
  const { stdout } = await run('git', ['-C', repository.path, 'cat-file', 'commit', name], {
    encoding: 'buffer',
  })
  const text = stdout.toString('latin1')
  const [header = ''] = /\ngpgsig (?:.*\n )*.*(?=\n)/.exec(text) ?? []
  const signature = header.replace('\ngpgsig ', '').replaceAll('\n ', '\n')
  return {
    commit: Buffer.from(text.replace(header, ''), 'latin1'),
    signature: `${signature}\n`,
    whole: stdout,
  }
}

/** Writes the commit with one letter of its message changed, and returns its name. */
export async function writeChanged(repository: GitRepository, whole: Buffer): Promise<string> {
  const other = Buffer.from(whole.toString('latin1').replace('Write', 'write'), 'latin1')
  if (other.equals(whole)) throw new Error('Nothing to change')
  const written = run('git', ['-C', repository.path, 'hash-object', '-t', 'commit', '-w', '--stdin'])
  written.child.stdin?.end(other)
  return (await written).stdout.trim()
}
