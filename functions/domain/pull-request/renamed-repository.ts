import { parseRepositoryAddress, parseSegments } from '../repository/address.ts'
import type { RepositoryAddress } from '../repository/address.ts'
import { allows } from '../repository/allowed-repositories.ts'
import { movedTo } from '../repository/target.ts'
import type { Target } from '../repository/target.ts'
import { Failure } from '../failure.ts'
import type { Permit } from './pull-requests.ts'
import { redact } from '../redact.ts'

/** The repository of `spec.repository`, and the secrets to mask in what its host returns. */
export interface Renamed {
  readonly target: Target
  readonly secrets: readonly string[]
}

/**
 * Checks whether a renamed repository may be used under its new name. `requireAllowed` throws if it may not; its message
 * becomes the end of the message here and states what to do.
 */
export function permitBy({ target, secrets }: Renamed, requireAllowed: (moved: Target) => void): Permit {
  const { address, repository } = target
  return function permit(present) {
    const path = present.join('/')
    const shown = redact(path, secrets) ?? '***'
    const installation = address.segments.slice(0, address.segments.length - repository.length)
    if (shown !== path || parseSegments(path) === undefined) throw refused(address, shown, UNREADABLE)
    const moved = addressAt(address, [...installation, ...present].join('/'))
    if (moved === undefined) throw refused(address, shown, UNREADABLE)
    try {
      requireAllowed(movedTo(target, moved))
    } catch (error) {
      throw error instanceof Failure ? refused(address, shown, error) : error
    }
  }
}

/** Throws ReferenceForbidden if there is a list ALLOWED_REPOSITORIES that does not cover the repository. */
export function requireOperatorAllows(list: string | undefined, { address, called }: Target): void {
  if (list === undefined) return
  if (called.every((one) => allows(list, one))) return
  const message = `${address.text} is not one of the repositories that the operator allows (ALLOWED_REPOSITORIES); ask your Commitlet operator.`
  throw new Failure('ReferenceForbidden', message)
}

const UNREADABLE = {
  message:
    'A repository with such a name cannot be allowed; put its new address into spec.repository of a new PullRequest.',
  retry: 'never',
} as const

/** The same address with another path; undefined if that is not a valid address. */
function addressAt({ text, segments }: RepositoryAddress, path: string): RepositoryAddress | undefined {
  const end = text.endsWith('.git') ? '.git' : ''
  const start = text.slice(0, text.length - end.length - segments.join('/').length)
  try {
    return parseRepositoryAddress(`${start}${path}${end}`)
  } catch {
    return undefined
  }
}

function refused(
  address: RepositoryAddress,
  shown: string,
  { message, retry }: Pick<Failure, 'message' | 'retry'>,
): Failure {
  return new Failure('ReferenceForbidden', `${address.text} is now called ${shown}. ${message}`, { retry })
}
