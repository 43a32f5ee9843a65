import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { textMember } from '../functions/domain/json-value.ts'

/** Set by build.ts in the bundle, which has no package.json beside it. */
declare const COMMITLET_VERSION: string | undefined

/** The version of this release. */
export function versionOfRelease(): string {
  return typeof COMMITLET_VERSION === 'string' ? COMMITLET_VERSION : versionIn('../package.json')
}

function versionIn(file: string): string {
  const text = readFileSync(join(import.meta.dirname, file), 'utf8')
  return textMember(JSON.parse(text), 'version') ?? ''
}
