import { OTHER_HOST_KEY, READ_ONLY, SUCCEEDED, UNAUTHORISED } from './matrix-endings.ts'
import type { MatrixCase } from './matrix-endings.ts'
import { HTTPS_CASES, token } from './matrix-https.ts'
import { key, SSH_CASES } from './matrix-ssh.ts'

const DEFAULT = { credentials: "the operator's" } as const
const PAIR = { credentials: 'two tokens', address: 'https', keys: { tokenKey: 'token' } } as const
const KEYS = { credentials: 'two private keys', address: 'ssh', keys: {} } as const

/** Every form of credentials, at both kinds of address: right, wrong, missing, expired, without access. */
export const MATRIX: readonly MatrixCase[] = [
  ...HTTPS_CASES,
  ...SSH_CASES,
  {
    ...PAIR,
    state: 'the first is wrong',
    secret: token('wrong token'),
    fallback: token('token'),
    used: 'Fallback',
    ...SUCCEEDED,
  },
  {
    ...PAIR,
    state: 'the first Secret is missing',
    fallback: token('token'),
    used: 'Fallback',
    ...SUCCEEDED,
  },
  {
    ...PAIR,
    state: 'both are wrong',
    secret: token('wrong token'),
    fallback: token('token for reading'),
    reason: 'AuthenticationFailed',
    says: `${UNAUTHORISED.says} The fallback credentials failed, too (PermissionDenied): ${READ_ONLY.says}`,
  },
  {
    ...KEYS,
    state: 'the first is wrong',
    secret: key('other key'),
    fallback: key('key'),
    used: 'Fallback',
    ...SUCCEEDED,
  },
  {
    ...KEYS,
    state: 'the first host key is wrong',
    secret: key('key', 'known hosts of yesterday'),
    fallback: key('key'),
    ...OTHER_HOST_KEY,
  },
  { ...DEFAULT, address: 'https', state: 'right', used: 'Default', ...SUCCEEDED },
  {
    ...DEFAULT,
    address: 'ssh',
    state: 'not used there',
    reason: 'refused',
    says: "spec.credentials is missing, but an SSH address needs a private key, which the operator's default credentials do not have; name a Secret there.",
  },
]
