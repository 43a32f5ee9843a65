import { readFileSync } from 'node:fs'
import type { Environment } from './domain/settings.ts'
import { orUndefined, text, WrongSetting } from './domain/settings.ts'
import { formatOf, signerOf } from './domain/signing/signing-key.ts'

const FILE = 'DEFAULT_SIGNING_KEY_FILE'
const REPOSITORIES = 'DEFAULT_SIGNING_REPOSITORIES'

/**
 * The path of the operator's signing key, which is read again for each commit; undefined: there is none. Throws WrongSetting
 * if it cannot be used, with one sentence that never contains a part of the key.
 */
export function readSigningKeyFile(env: Environment): string | undefined {
  const file = text(env, FILE, undefined)
  if (file === undefined) return undefined
  if (text(env, REPOSITORIES, undefined) === undefined)
    throw new WrongSetting(
      `${REPOSITORIES} is not set, but has to list the repositories whose commits the key of ${FILE} signs, such as git.example.com/teams/{namespace}.`,
    )
  const refuse = (complaint: string): WrongSetting =>
    new WrongSetting(`${FILE} is "${file}", but that file ${complaint}.`)
  const value = orUndefined(() => readFileSync(file))
  if (value === undefined) throw refuse('cannot be read')
  signerOf(value, formatOf(value), { committer: undefined, refuse })
  return file
}
