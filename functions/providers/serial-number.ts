/** The number that a host has given to a pull request, a person or a repository: whole, from 1 to 2^53 - 1. */
export function isSerialNumber(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0
}
