import { parseRepositoryAddress, parseSegments } from '../repository/address.ts'
import type { RepositoryAddress } from '../repository/address.ts'
import { allows } from '../repository/allowed-repositories.ts'
import { movedTo } from '../repository/target.ts'
import type { Target } from '../repository/target.ts'
import { Failure } from '../failure.ts'
import type { Permit } from './pull-requests.ts'
import { redact } from '../redact.ts'

/** What `spec.repository` names, and what must not be shown of what its host says. */
export interface Renamed {
  readonly target: Target
  readonly secrets: readonly string[]
}

/**
 * Who asks whether a repository that was renamed may be gone to by its present name. `requireAllowed` throws where it
 * may not; its sentence, which ends what is said, tells what to do.
 */
export function permitBy({ target, secrets }: Renamed, requireAllowed: (moved: Target) => void): Permit {
  const { address, repository } = target
  return function permit(present) {
    const path = present.join('/')
    const said = redact(path, secrets) ?? '***'
    const installation = address.segments.slice(0, address.segments.length - repository.length)
    if (said !== path || parseSegments(path) === undefined) throw refused(address, said, UNREADABLE)
    const moved = addressAt(address, [...installation, ...present].join('/'))
    if (moved === undefined) throw refused(address, said, UNREADABLE)
    try {
      requireAllowed(movedTo(target, moved))
    } catch (error) {
      throw error instanceof Failure ? refused(address, said, error) : error
    }
  }
}

/** Throws ReferenceForbidden where ALLOWED_REPOSITORIES, if there is such a list, does not cover the repository. */
export function requireOperatorAllows(list: string | undefined, { address, called }: Target): void {
  if (list === undefined) return
  if (called.every((one) => allows(list, one))) return
  const message = `${address.text} is not one of the repositories that the operator allows (ALLOWED_REPOSITORIES); ask whoever runs Commitlet.`
  throw new Failure('ReferenceForbidden', message)
}

const UNREADABLE = {
  message:
    'Nothing can be allowed that is called so; put its new address into spec.repository of a new PullRequest.',
  retry: 'never',
} as const

/** The same with another path; undefined where that makes no address. */
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
  said: string,
  { message, retry }: Pick<Failure, 'message' | 'retry'>,
): Failure {
  return new Failure('ReferenceForbidden', `${address.text} is called ${said} by now. ${message}`, { retry })
}
