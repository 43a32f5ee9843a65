import { timingSafeEqual } from 'node:crypto'
import type { RepositoryAddress } from '../../domain/repository/address.ts'

/** The two programs of a Git server. */
export type Service = 'git-upload-pack' | 'git-receive-pack'

/** What Git asks for on a connection of the git protocol. */
export interface Request {
  /** Length of the request in bytes; the bytes after it belong to the service. */
  readonly length: number
  /** Value for GIT_PROTOCOL, such as `version=2`; undefined: none. */
  readonly protocol: string | undefined
}

const HEADER = 4
const LONGEST = 1_000

/**
 * Reads the first packet of a connection (gitprotocol-pack(5), "Git Transport"), which has to request this service
 * and this path. `incomplete`: more bytes are needed. Undefined: it requests something else, or is not Git.
 */
export function readRequest(
  bytes: Buffer,
  expected: { readonly service: Service; readonly path: string },
): Request | 'incomplete' | undefined {
  const digits = bytes.toString('latin1', 0, HEADER)
  if (!/^[0-9a-f]*$/.test(digits)) return undefined
  if (digits.length < HEADER) return 'incomplete'
  const length = parseInt(digits, 16)
  if (length < HEADER || length > LONGEST) return undefined
  if (bytes.length < length) return 'incomplete'
  const [requested = '', , , ...extra] = bytes.toString('latin1', HEADER, length).split('\0')
  if (!isEqual(requested, `${expected.service} ${expected.path}`)) return undefined
  const parameters = extra.filter((parameter) => /^version=[0-9]+$/.test(parameter))
  return { length, protocol: parameters[0] }
}

// In constant time, so that the duration does not reveal how much of it was right.
function isEqual(requested: string, expected: string): boolean {
  const [a, b] = [Buffer.from(requested, 'latin1'), Buffer.from(expected, 'latin1')]
  return a.length === b.length && timingSafeEqual(a, b)
}

/**
 * The command that serves the repository, as git itself sends it (connect.c, git-clone(1), "GIT URLS"): the path of
 * `user@host:path` is relative to the user's home, `ssh://host/~name` as well, `ssh://host/path` is not.
 */
export function commandFor(service: Service, { text, segments }: RepositoryAddress): string {
  const path = `${segments.join('/')}${text.endsWith('.git') ? '.git' : ''}`
  const rooted = text.startsWith('ssh://') && !path.startsWith('~') ? `/${path}` : path
  return `${service} '${rooted.replaceAll("'", "'\\''")}'`
}
