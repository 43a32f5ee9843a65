import type { Schema } from './schema.ts'

// The rules of branch-name.ts that a regular expression can express.
const MALFORMED = "self.matches(r'^-|^refs/|(^|:|/)[.]|[.][.]|[.]lock(/|$)|//|^/|/$|[.]$|@[{]|^HEAD$')"

/** The short name of a branch; with `owner`, the branch of a fork may be written as `owner:branch`. */
export function branchSchema(description: string, owner: 'owner' | 'no owner' = 'no owner'): Schema {
  const name = '[^\\x00-\\x20\\x7f~^:?*\\[\\\\]+'
  return {
    type: 'string',
    description,
    expects:
      owner === 'owner'
        ? 'the name of a branch, such as feature, or owner:feature (GitHub only)'
        : 'the name of a branch',
    minLength: 1,
    maxLength: 255,
    pattern: owner === 'owner' ? `^([A-Za-z0-9_][A-Za-z0-9._-]*:)?${name}$` : `^${name}$`,
    'x-kubernetes-validations': [
      {
        rule: `!${MALFORMED}`,
        message: 'This is not a valid branch name (see git check-ref-format).',
      },
    ],
  }
}
