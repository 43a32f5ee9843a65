import { elements, isRecord } from '../json-value.ts'

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

/**
 * The node of a value that JSON.parse has made: the digits of a number are those that JavaScript writes. Recurses as deep
 * as the value is.
 */
export function jsonNode(value: unknown): JSONNode {
  if (typeof value === 'string' || typeof value === 'boolean') return value
  if (typeof value === 'number') return { digits: JSON.stringify(value) }
  if (Array.isArray(value)) return elements(value).map(jsonNode)
  return isRecord(value)
    ? new Map(Object.entries(value).map(([key, member]) => [key, jsonNode(member)] as const))
    : null
}

/** What a value takes besides its text, in characters. */
const NODE_WEIGHT = 16

/**
 * About how much work and memory a value takes: the characters of its texts and keys, and 16 for each value in it. Stops
 * counting above `most`.
 */
export function weightOf(node: JSONNode, most: number): number {
  const open: JSONNode[] = [node]
  let weight = 0
  for (let next = open.pop(); next !== undefined && weight <= most; next = open.pop()) {
    weight += NODE_WEIGHT
    if (typeof next === 'string') weight += next.length
    else if (isSequence(next)) for (const item of next) open.push(item)
    else if (isMapping(next))
      for (const [key, value] of next) {
        weight += key.length
        open.push(value)
      }
    else if (typeof next === 'object' && next !== null) weight += next.digits.length
  }
  return weight
}
