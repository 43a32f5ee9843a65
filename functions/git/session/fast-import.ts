import { Failure } from '../../domain/failure.ts'
import { identityLine, messageText } from '../objects/commit-object.ts'
import type { NewCommit, NewFile, RemovedFile } from '../remote.ts'
import type { Session } from './session.ts'

/**
 * Writes the commits into the session's workspace, one on the other, the first on `tip` or, if that is undefined,
 * without a parent. Returns their full names.
 * @throws Failure Internal if git has not created all of them
 */
export async function fastImport(
  session: Session,
  tip: string | undefined,
  commits: readonly NewCommit[],
): Promise<readonly string[]> {
  const stream = Buffer.concat(importStream(tip, commits))
  await session.offline(['fast-import', '--quiet', '--done', '--force', `--export-marks=${MARKS}`], stream)
  const names = readMarks(await session.workspace.readLines(MARKS))
  if (names.length === commits.length) return names
  throw new Failure(
    'Internal',
    `Git created ${names.length} of ${commits.length} commits for ${session.context.url}; Commitlet retries automatically.`,
  )
}

const MARKS = 'marks'

/** The ref that points to the last commit. */
const NEW_REF = 'refs/new'

/**
 * The stream for `git fast-import --done` (git-fast-import(1)): the commits in order, marked :1, :2, …
 */
export function importStream(tip: string | undefined, commits: readonly NewCommit[]): readonly Uint8Array[] {
  const parts = commits.flatMap((one, i) => commit(one, { mark: i + 1, from: i === 0 ? tip : undefined }))
  return [...parts, Buffer.from('done\n')]
}

/** Reads what `--export-marks` wrote: the commits' names in the order of their marks. */
export function readMarks(lines: readonly string[]): readonly string[] {
  const names: string[] = []
  for (const line of lines) {
    const [mark = '', name = ''] = line.split(' ')
    names[Number(mark.slice(1)) - 1] = name
  }
  return names
}

function commit(
  { files, message, author, date }: NewCommit,
  at: { readonly mark: number; readonly from: string | undefined },
): readonly Uint8Array[] {
  const by = identityLine(author, date)
  return [
    Buffer.from(`commit ${NEW_REF}\nmark :${at.mark}\nauthor ${by}\ncommitter ${by}\n`),
    ...data(Buffer.from(messageText(message))),
    Buffer.from(at.from === undefined ? '' : `from ${at.from}\n`),
    ...files.flatMap(file),
  ]
}

function file(one: NewFile | RemovedFile): readonly Uint8Array[] {
  const path = quotePath(one.path)
  if (one.content === undefined) return [Buffer.from(`D ${path}\n`)]
  return [Buffer.from(`M ${one.mode} inline ${path}\n`), ...data(one.content)]
}

function data(bytes: Uint8Array): readonly Uint8Array[] {
  return [Buffer.from(`data ${bytes.length}\n`), bytes, Buffer.from('\n')]
}

function quotePath(path: string): string {
  if (!path.startsWith('"') && !path.includes('\n')) return path
  return `"${path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`
}
