import { shareThread } from '../../functions/attempt/turns/thread/thread-share.ts'
import { openEdits, type Edits, type EditParts } from '../../functions/edits/edits.ts'
import type { TextEdit } from '../../functions/domain/edit/edit-text.ts'
import { parseFieldPath } from '../../functions/domain/field-path/field-path.ts'

/** Sets `.zz` of a YAML file. */
export const SET: TextEdit = {
  filePath: 'values.yaml',
  set: [{ field: parseFieldPath('.zz'), value: 'x' }],
}

/** A file of about so many bytes, as charts have them. */
export function valuesOf(bytes: number): Buffer {
  const parts: string[] = []
  for (let [i, length] = [0, 0]; length < bytes; i += 1) {
    const part = `shop-${i}:\n  # As released.\n  image:\n    repository: registry.example.com/shop # ours\n    tag: "1.26"\n  hosts:\n    - name: a\n      port: 80\n`
    parts.push(part)
    length += part.length
  }
  return Buffer.from(parts.join(''))
}

/** Edits in a pod that has memory for all, and what they have taken of it. */
export function openStage(
  parts: Partial<EditParts> = {},
): Edits & { readonly taken: number[]; held: () => number } {
  const taken: number[] = []
  let held = 0
  const acquire = async (memoryMiB: number) => {
    taken.push(memoryMiB)
    held += 1
    return () => void (held -= 1)
  }
  return { ...openEdits({ acquire, mostMiB: 300, share: shareThread(), ...parts }), taken, held: () => held }
}

/** An owner who waits for ever. */
export function ownerOf(namespace: string, signal = new AbortController().signal) {
  return { namespace, signal }
}
