import { EDIT_ROWS } from './edit-rows.ts'
import { GIT_ROWS } from './git-rows.ts'
import { HOST_ROWS } from './host-rows.ts'
import { MESSAGE_ROWS } from './message-rows.ts'
import { OBJECT_ROWS } from './object-rows.ts'
import { OPENPGP_ROWS } from './openpgp-rows.ts'
import { REQUEST_ROWS } from './request-rows.ts'
import { PROTOCOL_ROWS } from './protocol-rows.ts'
import { REQUESTER_ROWS } from './requester-rows.ts'
import type { ParserRow } from './row.ts'
import { SECRET_ROWS } from './secret-rows.ts'
import { SPEC_ROWS } from './spec-rows.ts'

/** All parsers of what strangers send. */
export const ROWS: readonly ParserRow[] = [
  ...SPEC_ROWS,
  ...SECRET_ROWS,
  ...OPENPGP_ROWS,
  ...REQUEST_ROWS,
  ...REQUESTER_ROWS,
  ...OBJECT_ROWS,
  ...EDIT_ROWS,
  ...HOST_ROWS,
  ...MESSAGE_ROWS,
  ...GIT_ROWS,
  ...PROTOCOL_ROWS,
]
