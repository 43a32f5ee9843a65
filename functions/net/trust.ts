import { X509Certificate } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { createSecureContext, getCACertificates } from 'node:tls'
import type { SecureContext } from 'node:tls'
import { Failure } from '../domain/failure.ts'

/**
 * What certificates are checked by, for Git and for all APIs. Each call looks whether CA_FILE has changed and reads it
 * again then. Throws Internal where CA_FILE could not be used yet.
 */
export interface Trust {
  /** Is there a CA_FILE? */
  readonly hasOwn: boolean
  /**
   * PEM texts of the system's authorities, each once (or, where the system has none, of those that Node brings), and
   * the text of CA_FILE. The same array as long as nothing has changed.
   */
  readonly authorities: () => Promise<readonly string[]>
  /** The same for node:tls. To read and to parse them takes some 60 ms, which is done once for each change. */
  readonly context: () => Promise<SecureContext>
}

/**
 * Follows CA_FILE, where there is one. Where it cannot be used any more, what it held before stays in force, and
 * `broken` is called once for each broken state.
 */
export function followTrust(caFile: string | undefined, broken?: (failure: Failure) => void): Trust {
  const authorities = followAuthorities(caFile, broken)
  let made: { readonly of: readonly string[]; readonly context: SecureContext } | undefined
  return {
    hasOwn: caFile !== undefined,
    authorities,
    async context() {
      const of = await authorities()
      if (made?.of !== of) made = { of, context: createSecureContext({ ca: [...of] }) }
      return made.context
    },
  }
}

function followAuthorities(
  caFile: string | undefined,
  broken?: (failure: Failure) => void,
): Trust['authorities'] {
  let known: readonly string[] | undefined
  let seen = ''
  let looking: Promise<readonly string[]> | undefined

  async function look(file: string): Promise<readonly string[]> {
    const state = await stateOf(file)
    if (known !== undefined && state === seen) return known
    const own = await readOwn(file).catch(asUnusable)
    if (own instanceof Failure && known === undefined) throw own
    seen = state
    if (own instanceof Failure) broken?.(own)
    known = own instanceof Failure && known !== undefined ? known : [...systemAuthorities(), String(own)]
    return known
  }

  return function authorities() {
    if (caFile === undefined) return Promise.resolve((known ??= systemAuthorities()))
    looking ??= look(caFile).finally(() => (looking = undefined))
    return looking
  }
}

// The same ones often lie in a file and in a folder.
function systemAuthorities(): readonly string[] {
  const system = new Set(getCACertificates('system'))
  return system.size > 0 ? [...system] : getCACertificates('bundled')
}

/** Changes whenever the file does. Volumes swap a symbolic link: the file that it leads to is the one that counts. */
async function stateOf(file: string): Promise<string> {
  const found = await stat(file, { bigint: true }).catch(() => undefined)
  if (found === undefined) return 'missing'
  const { dev, ino, size, mtimeNs, ctimeNs } = found
  return [dev, ino, size, mtimeNs, ctimeNs].join()
}

const BEGINNING = /-----BEGIN CERTIFICATE-----/g
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

async function readOwn(file: string): Promise<string> {
  const text = await readFile(file, 'utf8')
  const certificates = text.match(CERTIFICATE) ?? []
  const whole = certificates.length === text.match(BEGINNING)?.length
  if (!whole) throw unusable('has to hold PEM text of whole certificates, but does not')
  for (const certificate of certificates) checkCertificate(certificate)
  return text
}

function checkCertificate(text: string): void {
  try {
    new X509Certificate(text)
  } catch (cause) {
    throw unusable('holds something as a certificate that is none', cause)
  }
}

function asUnusable(error: unknown): Failure {
  return error instanceof Failure ? error : unusable('cannot be read', error)
}

function unusable(complaint: string, cause?: unknown): Failure {
  const message = `The file that CA_FILE names ${complaint}; the operator has to fix it.`
  return new Failure('Internal', message, { cause })
}
