import { createHash } from 'node:crypto'

/** Equal for equal parts (as JSON), and tells nothing of them: 64 hex digits of SHA-256. */
export function digestOf(...parts: readonly unknown[]): string {
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}
