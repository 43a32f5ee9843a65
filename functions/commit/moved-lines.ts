import type { FileChange } from '../domain/commit/change.ts'
import { Failure } from '../domain/failure.ts'
import { HAS_MOVED_LINE, hasMovedLine } from '../domain/repository/moved-words.ts'
import type { Share } from './sources/source.ts'

/** Bytes that are read in a fraction of a millisecond. */
const SMALL = 64 * 1024

/**
 * The same file, unless what is written has a line by which hosts say that a repository has moved. Where a hook prints it, each
 * push to the repository would seem to have gone elsewhere. Of an edit that is found out once it is made; a line that was in
 * the file before may stay.
 * @throws Failure NotSupported, retried slowly: the object that it is from may change
 */
export async function withoutMovedLine(file: FileChange, share: Share): Promise<FileChange> {
  const { path } = file
  const says = async (bytes: Uint8Array): Promise<boolean> =>
    bytes.length <= SMALL ? hasMovedLine(textOf(bytes)) : share(() => hasMovedLine(textOf(bytes)))
  if (file.content !== undefined && (await says(file.content))) throw refusal(path)
  const { edit } = file
  if (edit === undefined) return file
  const passed = new WeakSet<Uint8Array>()
  return {
    ...file,
    async edit(before) {
      const after = await edit(before)
      if (!passed.has(after) && (await says(after)) && !(await says(before))) throw refusal(path)
      passed.add(after)
      return after
    },
  }
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString()
}

function refusal(path: string): Failure {
  return new Failure('NotSupported', `The new content of ${path} ${HAS_MOVED_LINE}`, { retry: 'slow' })
}
