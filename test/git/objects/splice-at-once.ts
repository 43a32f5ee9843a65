import { splice, type Spliced } from '../../../functions/git/objects/splice.ts'

/** Makes all steps of a splice, without a pause. */
export function spliceAtOnce(...of: Parameters<typeof splice>): Spliced {
  const steps = splice(...of)
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}
