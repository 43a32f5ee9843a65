import { timingSafeEqual } from 'node:crypto'
import type { RepositoryAddress } from '../../domain/repository/address.ts'

/** The two programs of a Git server. */
export type Service = 'git-upload-pack' | 'git-receive-pack'

/** What Git asks for on a connection of the git protocol. */
export interface Request {
  /** Where the request ends, and what belongs to the service begins. */
  readonly length: number
  /** Value for GIT_PROTOCOL, such as `version=2`; undefined: none. */
  readonly protocol: string | undefined
}

const HEADER = 4
const LONGEST = 1_000

/**
 * Reads the first packet of a connection (gitprotocol-pack(5), "Git Transport"), which has to ask for this service
 * and name this path. `incomplete`: more bytes are needed. Undefined: it is another's, or no Git.
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
  const [asked = '', , , ...extra] = bytes.toString('latin1', HEADER, length).split('\0')
  if (!isEqual(asked, `${expected.service} ${expected.path}`)) return undefined
  const parameters = extra.filter((parameter) => /^version=[0-9]+$/.test(parameter))
  return { length, protocol: parameters[0] }
}

// Without telling by the time it takes how much of it was right.
function isEqual(asked: string, expected: string): boolean {
  const [a, b] = [Buffer.from(asked, 'latin1'), Buffer.from(expected, 'latin1')]
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
