import { isRecord } from '../json-value.ts'

/** Finished text, or a value that is still to be written. */
type Piece = string | { readonly value: unknown }

/**
 * The same text for a JSON value in any order of its objects' members: the JSON Canonicalization Scheme
 * (RFC 8785), which is JSON without white space and with members in the order of their names' UTF-16 units. A
 * member that is undefined is left out. Does not recurse: no depth can crash it.
 */
export function canonicalJSON(value: unknown): string {
  const written: string[] = []
  const open: Piece[] = [{ value }]
  for (let piece = open.pop(); piece !== undefined; piece = open.pop()) {
    if (typeof piece === 'string') written.push(piece)
    else for (const part of partsOf(piece.value).toReversed()) open.push(part)
  }
  return written.join('')
}

function partsOf(value: unknown): readonly Piece[] {
  if (Array.isArray(value))
    return ['[', ...value.flatMap((item: unknown, index) => pieces(comma(index), item)), ']']
  if (!isRecord(value)) return [JSON.stringify(value)]
  const members = Object.keys(value)
    .filter((name) => value[name] !== undefined)
    .sort()
    .flatMap((name, index) => pieces(`${comma(index)}${JSON.stringify(name)}:`, value[name]))
  return ['{', ...members, '}']
}

function pieces(before: string, value: unknown): readonly Piece[] {
  const isLeaf = typeof value !== 'object' || value === null
  return isLeaf ? [`${before}${JSON.stringify(value)}`] : [before, { value }]
}

function comma(index: number): string {
  return index === 0 ? '' : ','
}
