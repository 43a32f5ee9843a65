import { parseRepositoryAddress, parseSegments } from '../repository/address.ts'
import type { RepositoryAddress } from '../repository/address.ts'
import { allows } from '../repository/allowed-repositories.ts'
import { calledAddresses } from '../repository/api-endpoint.ts'
import { Failure } from '../failure.ts'
import type { Permit } from './pull-requests.ts'
import { redact } from '../redact.ts'

/** What `spec.repository` names, and what must not be shown of what its host says. */
export interface Named {
  readonly address: RepositoryAddress
  /** Its path at its host, without that of the installation. */
  readonly repository: readonly string[]
  readonly secrets: readonly string[]
}

/**
 * Who asks whether a repository that was renamed may be gone to by its present name. `requireAllowed` throws where it
 * may not; its sentence, which ends what is said, tells what to do.
 */
export function permitBy(named: Named, requireAllowed: (address: RepositoryAddress) => void): Permit {
  const { address, repository, secrets } = named
  return function permit(present) {
    const path = present.join('/')
    const said = redact(path, secrets) ?? '***'
    const installation = address.segments.slice(0, address.segments.length - repository.length)
    if (said !== path || parseSegments(path) === undefined) throw refused(named, said, UNREADABLE)
    const moved = addressAt(address, [...installation, ...present].join('/'))
    if (moved === undefined) throw refused(named, said, UNREADABLE)
    try {
      requireAllowed(moved)
    } catch (error) {
      throw error instanceof Failure ? refused(named, said, error) : error
    }
  }
}

/** Throws ReferenceForbidden where ALLOWED_REPOSITORIES, if there is such a list, does not cover the repository. */
export function requireOperatorAllows(list: string | undefined, address: RepositoryAddress): void {
  if (list === undefined) return
  if (calledAddresses('PullRequest', address).every((called) => allows(list, called))) return
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
  { address }: Named,
  said: string,
  { message, retry }: Pick<Failure, 'message' | 'retry'>,
): Failure {
  return new Failure('ReferenceForbidden', `${address.text} is called ${said} by now. ${message}`, { retry })
}
