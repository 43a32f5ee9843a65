import { X509Certificate } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { getCACertificates } from 'node:tls'
import { Failure } from '../domain/failure.ts'

/** PEM texts of all that is trusted: the same array as long as nothing has changed. */
export type Authorities = () => Promise<readonly string[]>

/** Is told that CA_FILE cannot be used as it is now, so that what it held before stays in force. */
export type Broken = (failure: Failure) => void

/**
 * What certificates are checked by: PEM texts of the system's authorities, each once (or, where the system has none, of
 * those that Node brings), and the text of CA_FILE, where there is one. Each use looks whether that file has changed
 * and reads it again then. Where it cannot be used any more, what it held before stays in force, and `broken` is called
 * once for each broken state.
 * @throws Failure Internal where CA_FILE could not be used yet
 */
export function followAuthorities(caFile: string | undefined, broken?: Broken): Authorities {
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
