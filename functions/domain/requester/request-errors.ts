import { fieldError } from '../field-error.ts'
import type { FieldError } from '../field-error.ts'
import { member, textMember } from '../json-value.ts'
import { REQUESTED_AT } from '../resource/api-names.ts'

/** Characters of `commitlet.dev/requested-at`: the status, the lists of sweeps and `kubectl get` repeat it. */
const LONGEST_REQUEST = 253

/** The error of a `commitlet.dev/requested-at` that is longer than 253 characters, or is not one line of text. */
export function requestErrors(object: unknown): readonly FieldError[] {
  const requestedAt = textMember(member(member(object, 'metadata'), 'annotations'), REQUESTED_AT) ?? ''
  const field = `metadata.annotations[${REQUESTED_AT}]`
  const advice = 'write a value such as "$(date -u +%FT%TZ)".'
  if (requestedAt.length > LONGEST_REQUEST)
    return [
      fieldError(field, `has ${requestedAt.length} characters, more than ${LONGEST_REQUEST}; ${advice}`),
    ]
  return /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u.test(requestedAt)
    ? [fieldError(field, `contains a control character or half a character; ${advice}`)]
    : []
}
