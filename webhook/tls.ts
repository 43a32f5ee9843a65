import { constants, createPrivateKey, X509Certificate } from 'node:crypto'
import type { Socket } from 'node:net'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import type { SecureContextOptions } from 'node:tls'
import { Failure } from '../functions/domain/failure.ts'
import { certificatesIn } from '../functions/net/trust.ts'

/** Interval of reading the files. The kubelet swaps a symlink of the volume, which file watches miss. */
const POLL_MS = 1_000

/** Where the serving certificate, its key and (optionally) the authorities of client certificates are. */
export interface KeyPairFiles {
  readonly certFile: string
  readonly keyFile: string
  readonly clientCAFile: string | undefined
}

/** PEM texts, named as in node:tls. With `ca`, client certificates signed by it are required. */
export interface KeyPair {
  readonly cert: string
  readonly key: string
  readonly ca?: string
}

/**
 * What is served with the pair: TLS 1.2 alone. In TLS 1.3 a client may change its keys without a limit (RFC 8446, 4.6.3),
 * and Node gives OpenSSL up to 2 MiB of such messages in one turn of the event loop: any pod could stop it. TLS 1.2 is not
 * negotiated again: nothing bounds the certificates of a client then (bounded-tls.ts). Nor are sessions resumed: data could come
 * together with the end of such a handshake, whose bytes are counted.
 */
export function servedWith(pair: KeyPair): SecureContextOptions & KeyPair {
  return { ...pair, maxVersion: 'TLSv1.2', secureOptions: NEVER_AGAIN }
}

const NEVER_AGAIN = constants.SSL_OP_NO_RENEGOTIATION | constants.SSL_OP_NO_TICKET

/** Callbacks while the files are followed. */
export interface KeyPairFollower {
  readonly changed: (pair: KeyPair) => void
  /**
   * A new pair cannot be used, and the old one stays in use. Called once for each error, after two looks have found it:
   * one alone may have read the certificate before the kubelet's swap and the key after it.
   */
  readonly broken: (failure: Failure) => void
}

/** Where the serving certificate comes from. */
export interface KeyPairSource {
  /** What is served first. Throws a Failure with one sentence if there is nothing to serve. */
  readonly open: () => Promise<KeyPair>
  /** Passes on each new pair; returns a function that stops it. */
  readonly follow: (current: KeyPair, follower: KeyPairFollower) => () => void
}

/** The pair in these files, which somebody else renews. */
export function keyPairIn(files: KeyPairFiles): KeyPairSource {
  return {
    open: () => readKeyPair(files),
    follow: (current, follower) => followKeyPair(files, current, follower),
  }
}

/** Reads the authorities of client certificates; undefined: none are required. Throws CredentialsInvalid as `readKeyPair` does. */
export async function readClientCA({
  clientCAFile,
}: Pick<KeyPairFiles, 'clientCAFile'>): Promise<string | undefined> {
  if (clientCAFile === undefined) return undefined
  const text = await readPEM(clientCAFile)
  const certificates = certificatesIn(text) ?? [text]
  for (const ca of certificates) parsed(() => new X509Certificate(ca), clientCAFile, 'a certificate')
  return certificates.join('')
}

/** Reads the files. Throws CredentialsInvalid, with one sentence that names the file, if they cannot be used. */
export async function readKeyPair(files: KeyPairFiles): Promise<KeyPair> {
  const [cert, key] = [await readPEM(files.certFile), await readPEM(files.keyFile)]
  const ca = await readClientCA(files)
  const pair = { cert, key, ...(ca === undefined ? {} : { ca }) }
  checkPair(pair, files)
  return pair
}

/** When the serving certificate expires, in seconds since 1970. */
export function expiryOf({ cert }: KeyPair): number {
  return new X509Certificate(cert).validToDate.getTime() / 1000
}

/** Reads the files every second and passes on each new pair that can be used. Returns a function that stops it. */
export function followKeyPair(
  files: KeyPairFiles & { readonly lookMs?: number },
  current: KeyPair,
  follower: KeyPairFollower,
): () => void {
  let served = current
  let found = ''
  let reported = ''
  let isReading = false
  const check = async (): Promise<void> => {
    try {
      const pair = await readKeyPair(files)
      found = ''
      reported = ''
      if (isSame(pair, served)) return
      served = pair
      follower.changed(pair)
    } catch (error) {
      const failure =
        error instanceof Failure ? error : unusable('The new certificate cannot be used.', error)
      const { message } = failure
      if (message === found && message !== reported) {
        reported = message
        follower.broken(failure)
      }
      found = message
    }
  }
  const timer = setInterval(() => {
    if (isReading) return
    isReading = true
    void check().finally(() => (isReading = false))
  }, files.lookMs ?? POLL_MS)
  timer.unref()
  return () => clearInterval(timer)
}

function isSame(a: KeyPair, b: KeyPair): boolean {
  return a.cert === b.cert && a.key === b.key && a.ca === b.ca
}

async function readPEM(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8')
  } catch (cause) {
    throw unusable(
      `The file ${file}, named by TLS_CERT_FILE, TLS_KEY_FILE or CLIENT_CA_FILE, cannot be read, but has to hold PEM text.`,
      cause,
    )
  }
}

function checkPair(pair: KeyPair, files: KeyPairFiles): void {
  const certificate = parsed(() => new X509Certificate(pair.cert), files.certFile, 'a certificate')
  const key = parsed(() => createPrivateKey(pair.key), files.keyFile, 'a private key')
  if (!certificate.checkPrivateKey(key)) {
    throw unusable(`The key in ${files.keyFile} does not belong to the certificate in ${files.certFile}.`)
  }
  parsed(() => createSecureContext({ ...pair }), files.certFile, 'a certificate with its chain')
}

function parsed<T>(parse: () => T, file: string, what: string): T {
  try {
    return parse()
  } catch (cause) {
    throw unusable(`The file ${file} has to hold ${what} in PEM form, but does not.`, cause)
  }
}

function unusable(message: string, cause?: unknown): Failure {
  return new Failure('CredentialsInvalid', message, { cause })
}

/** Whether the other side has shown a certificate of CLIENT_CA_FILE. */
export function isCertified(socket: Socket): boolean {
  return 'authorized' in socket && socket.authorized === true
}
