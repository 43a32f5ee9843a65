import type { FileChange } from '../../domain/commit/change.ts'
import type { Entry, Means } from './source.ts'

/** `content`: the text is the file. */
export function fromContent(
  { file: { path, content } }: Entry,
  { room }: Means,
): Promise<FileChange> | undefined {
  if (content === undefined) return undefined
  const bytes = Buffer.from(content)
  room.take(bytes.length)
  return Promise.resolve({ path, content: bytes })
}
