import { Failure } from '../failure.ts'
import { readStructured } from './cloud-event.ts'
import type { Hint, Posted } from './hint.ts'
import type { Rest } from './json-elements.ts'
import { readList } from './json-elements.ts'

/**
 * Reads a batch of CloudEvents (JSON batch format, section 4 of the JSON format). Throws InvalidSpec where one of them is
 * not an event that Commitlet knows, because the answer is about the whole batch.
 */
export async function readBatch(body: Uint8Array, rest: Rest): Promise<Posted> {
  const { around, elements } = await readList(body, undefined, rest)
  if (!Array.isArray(around)) throw new Failure('InvalidSpec', 'A batch has to be a list of CloudEvents.')
  const hints: Hint[] = []
  for await (const event of elements) {
    if (event === undefined) throw new Failure('InvalidSpec', 'An event of the batch is too large.')
    hints.push(...readStructured(event))
  }
  return { form: 'batch', hints, skipped: 0 }
}
