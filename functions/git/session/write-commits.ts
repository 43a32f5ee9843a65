import { encodeSigned } from '../objects/commit-object.ts'
import type { GitObject } from '../objects/object.ts'
import { startPack } from '../objects/pack-writer.ts'
import { stopIfAborted } from '../process/launcher.ts'
import type { NewCommit } from '../remote.ts'
import { fastImport } from './fast-import.ts'
import type { Session } from './session.ts'

/**
 * Implements `writeCommits` of the port. Commits that are signed are made from the trees of those that `git fast-import`
 * has written, which cannot sign, as the direct engine makes them, and so are those between them: their parents are
 * others.
 * @throws Failure Internal if git has not created all of them; what a signer throws
 */
export async function writeCommits(
  session: Session,
  tip: string | undefined,
  commits: readonly NewCommit[],
): Promise<readonly string[]> {
  const unsigned = await fastImport(session, tip, commits)
  if (commits.every(({ signer }) => signer === undefined)) return unsigned
  const trees = await session.offline(['rev-parse', ...unsigned.map((name) => `${name}^{tree}`)])
  const roots = trees.split('\n')
  const signed: GitObject[] = []
  const pack = startPack()
  for (const [i, { signer, author, date, message }] of commits.entries()) {
    // A signature may wait for those of others.
    stopIfAborted(session.signal)
    const parent = signed.at(-1)?.id ?? tip
    const parents = parent === undefined ? [] : [parent]
    const parts = { tree: roots[i] ?? '', parents, author, date, message }
    const commit = await encodeSigned(parts, signer)
    signed.push(commit)
    await pack.add(commit)
  }
  await session.offline(['unpack-objects', '-q'], Buffer.concat(await pack.finish()))
  return signed.map(({ id }) => id)
}
