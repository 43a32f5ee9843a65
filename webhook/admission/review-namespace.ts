import { endOfString } from '../../functions/domain/network/json-parts.ts'
import { ownCopy } from '../../functions/domain/own-copy.ts'
import { isObjectName } from '../../functions/domain/resource/resource.ts'

const [QUOTE, COMMA, COLON, OPEN_OBJECT] = [0x22, 0x2c, 0x3a, 0x7b]
const [OPEN_LIST, CLOSE_LIST, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7d]

/** A review and its request have 15 members at most. */
const MOST_MEMBERS = 64

/**
 * What is written as `request.namespace` in the beginning of the text of an AdmissionReview (RFC 8259), as it stands between its
 * quotes, before anything of it is parsed; undefined if there is no such text, or it is no name of an object. The API server
 * writes it before the objects. Of several, the first one counts, which is not so for JSON.parse.
 */
export function namespaceIn(text: string): string | undefined {
  const request = memberAt(text, 0, 'request')
  const start = request === undefined ? undefined : memberAt(text, request, 'namespace')
  if (start === undefined || text.charCodeAt(start) !== QUOTE) return undefined
  const name = text.slice(start + 1, endOfString(text, start))
  // Owners of turns are remembered by their names.
  return isObjectName(name) ? ownCopy(name) : undefined
}

/** Where the value of this member of the object that begins here begins. */
function memberAt(text: string, start: number, name: string): number | undefined {
  let at = afterBlanks(text, start)
  if (text.charCodeAt(at) !== OPEN_OBJECT) return undefined
  for (let members = 0; members < MOST_MEMBERS; members += 1) {
    const key = afterBlanks(text, at + 1)
    if (text.charCodeAt(key) !== QUOTE) return undefined
    const end = endOfString(text, key)
    const colon = afterBlanks(text, end + 1)
    if (text.charCodeAt(colon) !== COLON) return undefined
    const value = afterBlanks(text, colon + 1)
    if (end - key - 1 === name.length && text.startsWith(name, key + 1)) return value
    at = afterValue(text, value)
    if (text.charCodeAt(at) !== COMMA) return undefined
  }
  return undefined
}

/** Where the comma or the bracket after the value that begins here is. */
function afterValue(text: string, start: number): number {
  let depth = 0
  for (let at = start; at < text.length; at += 1) {
    const sign = text.charCodeAt(at)
    if (depth === 0 && (sign === COMMA || sign === CLOSE_OBJECT)) return at
    if (sign === QUOTE) at = endOfString(text, at)
    else if (sign === OPEN_LIST || sign === OPEN_OBJECT) depth += 1
    else if (sign === CLOSE_LIST || sign === CLOSE_OBJECT) depth -= 1
  }
  return text.length
}

function afterBlanks(text: string, start: number): number {
  let at = start
  while (isBlank(text.charCodeAt(at))) at += 1
  return at
}

function isBlank(sign: number): boolean {
  return sign === 0x20 || sign === 0x0a || sign === 0x0d || sign === 0x09
}
