import { readFileSync } from 'node:fs'
import { ROOT } from '../read.ts'

/** Reads a file of the project. */
export function readText(path: string): string {
  return readFileSync(new URL(path, ROOT), 'utf8')
}
