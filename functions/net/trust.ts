import { constants, X509Certificate } from 'node:crypto'
import { readFile, stat } from 'node:fs/promises'
import { createSecureContext, DEFAULT_CIPHERS, getCACertificates } from 'node:tls'
import type { SecureContext } from 'node:tls'
import { Failure } from '../domain/failure.ts'

/**
 * The authorities that certificates are checked with, for Git and for all APIs. Each call checks whether CA_FILE has
 * changed, and reads it again if so. Throws Internal if CA_FILE could not be used yet.
 */
export interface Trust {
  /**
   * PEM texts of the system's authorities, each once (or of Node's bundled authorities if the system has none), and
   * the certificates of CA_FILE as one text. The same array as long as nothing has changed.
   */
  readonly authorities: () => Promise<readonly string[]>
  /** The same for node:tls. Reading and parsing them takes about 60 ms, once for each change. */
  readonly context: () => Promise<SecureContext>
}

/**
 * Follows CA_FILE, if there is one. When it becomes unusable, its previous content stays in force, and `broken` is
 * called once for each broken state.
 */
export function followTrust(caFile: string | undefined, broken?: (failure: Failure) => void): Trust {
  const authorities = followAuthorities(caFile, broken)
  let cached: { readonly of: readonly string[]; readonly context: SecureContext } | undefined
  return {
    authorities,
    async context() {
      const of = await authorities()
      if (cached?.of !== of) cached = { of, context: contextOf(of) }
      return cached.context
    },
  }
}

/**
 * For connections to servers of strangers, which need a certificate by one of these authorities (PEM). Without the ciphers
 * that agree on a key by DHE: with a modulus of 10,000 bits, which OpenSSL accepts before it has checked the certificate,
 * that takes 1 s of the thread. And without new negotiations in TLS 1.2, whose certificates nothing bounds (metered-tls.ts): to
 * check 83 KB of them takes 3 s.
 */
export function contextOf(authorities: readonly string[]): SecureContext {
  const ciphers = `${DEFAULT_CIPHERS}:!DHE`
  return createSecureContext({
    ca: [...authorities],
    ciphers,
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  })
}

function followAuthorities(
  caFile: string | undefined,
  broken?: (failure: Failure) => void,
): Trust['authorities'] {
  let known: readonly string[] | undefined
  let lastState = ''
  let refreshing: Promise<readonly string[]> | undefined

  async function refresh(file: string): Promise<readonly string[]> {
    const state = await stateOf(file)
    if (known !== undefined && state === lastState) return known
    const own = await readOwn(file).catch(asUnusable)
    if (own instanceof Failure && known === undefined) throw own
    lastState = state
    if (own instanceof Failure) broken?.(own)
    known = own instanceof Failure && known !== undefined ? known : [...systemAuthorities(), String(own)]
    return known
  }

  return function authorities() {
    if (caFile === undefined) return Promise.resolve((known ??= systemAuthorities()))
    refreshing ??= refresh(caFile).finally(() => (refreshing = undefined))
    return refreshing
  }
}

// Systems often have the same certificates both in a file and in a folder.
function systemAuthorities(): readonly string[] {
  const system = new Set(getCACertificates('system'))
  return system.size > 0 ? [...system] : getCACertificates('bundled')
}

/** A text that changes whenever the file does. Volumes replace a symbolic link, so its target counts. */
async function stateOf(file: string): Promise<string> {
  const found = await stat(file, { bigint: true }).catch(() => undefined)
  if (found === undefined) return 'missing'
  const { dev, ino, size, mtimeNs, ctimeNs } = found
  return [dev, ino, size, mtimeNs, ctimeNs].join()
}

const BEGINNING = /-----BEGIN CERTIFICATE-----/g
const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

async function readOwn(file: string): Promise<string> {
  const certificates = certificatesIn(await readFile(file, 'utf8'))
  if (certificates === undefined) throw unusable('does not contain the PEM text of complete certificates')
  for (const certificate of certificates) checkCertificate(certificate)
  return certificates.join('')
}

/**
 * The PEM texts of the certificates in a text; undefined if there is none, or one that is not complete. Each is of lines of its
 * own: where files were put together without a line end between them, OpenSSL would read none of them, and say nothing.
 */
export function certificatesIn(text: string): readonly string[] | undefined {
  const certificates = text.match(CERTIFICATE) ?? []
  const isWhole = certificates.length === text.match(BEGINNING)?.length
  return isWhole ? certificates.map((certificate) => `${certificate}\n`) : undefined
}

function checkCertificate(text: string): void {
  try {
    new X509Certificate(text)
  } catch (cause) {
    throw unusable('contains a certificate that cannot be parsed', cause)
  }
}

function asUnusable(error: unknown): Failure {
  return error instanceof Failure ? error : unusable('cannot be read', error)
}

function unusable(complaint: string, cause?: unknown): Failure {
  const message = `The file that CA_FILE names ${complaint}; your Commitlet operator has to fix it.`
  return new Failure('Internal', message, { cause })
}
