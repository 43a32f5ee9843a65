/** A number as it was written in JSON (RFC 8259, section 6), so that 64-bit integers keep their digits. */
export interface NumberText {
  readonly digits: string
}

export type Sequence = readonly JSONNode[]

/** Members in the order in which they were sent, digit-like keys included. */
export type Mapping = ReadonlyMap<string, JSONNode>

/** A JSON value that has lost nothing of its text but white space and escapes. */
export type JSONNode = string | boolean | null | NumberText | Sequence | Mapping

/** Takes the next piece of a text that is being written; may throw to stop the writing. */
export type Write = (piece: string) => void

/** Tells whether the value is an object. */
export function isMapping(node: JSONNode | undefined): node is Mapping {
  return node instanceof Map
}

/** Tells whether the value is an array. */
export function isSequence(node: JSONNode | undefined): node is Sequence {
  return Array.isArray(node)
}

/** Tells whether the value is an array or an object with nothing in it. */
export function isEmpty(node: JSONNode): boolean {
  return isSequence(node) ? node.length === 0 : isMapping(node) && node.size === 0
}
