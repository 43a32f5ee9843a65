/** A number as it was written in JSON (RFC 8259, section 6), so that 64-bit integers keep their digits. */
export interface NumberText {
  readonly digits: string
}

export type Sequence = readonly JSONNode[]

/** Members in the order of the text, also where keys are digits. */
export type Mapping = ReadonlyMap<string, JSONNode>

/** A JSON value that keeps everything of its text except white space and escapes. */
export type JSONNode = string | boolean | null | NumberText | Sequence | Mapping

/** Takes the next piece of a text that is being written; may throw to stop the writing. */
export type Write = (piece: string) => void

/** Whether the value is an object. */
export function isMapping(node: JSONNode | undefined): node is Mapping {
  return node instanceof Map
}

/** Whether the value is an array. */
export function isSequence(node: JSONNode | undefined): node is Sequence {
  return Array.isArray(node)
}

/** Whether the value is an empty array or an empty object. */
export function isEmpty(node: JSONNode): boolean {
  return isSequence(node) ? node.length === 0 : isMapping(node) && node.size === 0
}
