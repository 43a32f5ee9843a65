import type { FileChange } from '../../domain/commit/change.ts'
import type { Entry } from './source.ts'

/** `remove`: the file is gone afterwards. */
export function fromRemoval({ file: { path, remove } }: Entry): Promise<FileChange> | undefined {
  return remove === true ? Promise.resolve({ path }) : undefined
}
