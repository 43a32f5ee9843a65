import { createPrivateKey, X509Certificate } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createSecureContext } from 'node:tls'
import { Failure } from '../functions/domain/failure.ts'

/** How often the files are looked at. The kubelet swaps a symlink of the volume, which file watches miss. */
const LOOK_MS = 1_000

/** Where the serving certificate, its key and (optionally) the authorities of client certificates are. */
export interface KeyPairFiles {
  readonly certFile: string
  readonly keyFile: string
  readonly clientCAFile: string | undefined
}

/** PEM texts, named as node:tls takes them. `ca`: client certificates signed by it are required. */
export interface KeyPair {
  readonly cert: string
  readonly key: string
  readonly ca?: string
}

/** What happens while the files are followed. */
export interface KeyPairFollower {
  readonly changed: (pair: KeyPair) => void
  /** A new pair cannot be used, and the old one stays. Called once for each broken state. */
  readonly broken: (failure: Failure) => void
}

/** Reads the files. Throws CredentialsInvalid, one sentence naming the file, where they cannot serve. */
export async function readKeyPair(files: KeyPairFiles): Promise<KeyPair> {
  const pair = {
    cert: await readPEM(files.certFile),
    key: await readPEM(files.keyFile),
    ...(files.clientCAFile === undefined ? {} : { ca: await readPEM(files.clientCAFile) }),
  }
  checkPair(pair, files)
  return pair
}

/** Looks at the files every second and hands on each new pair that can serve. Answers a function that ends it. */
export function followKeyPair(
  files: KeyPairFiles & { readonly lookMs?: number },
  current: KeyPair,
  follower: KeyPairFollower,
): () => void {
  let served = current
  let complaint = ''
  let looking = false
  const look = async (): Promise<void> => {
    try {
      const pair = await readKeyPair(files)
      complaint = ''
      if (isSame(pair, served)) return
      served = pair
      follower.changed(pair)
    } catch (error) {
      const failure =
        error instanceof Failure ? error : unusable('The new certificate cannot be served.', error)
      if (failure.message !== complaint) follower.broken(failure)
      complaint = failure.message
    }
  }
  const timer = setInterval(() => {
    if (looking) return
    looking = true
    void look().finally(() => (looking = false))
  }, files.lookMs ?? LOOK_MS)
  timer.unref()
  return () => clearInterval(timer)
}

function isSame(one: KeyPair, other: KeyPair): boolean {
  return one.cert === other.cert && one.key === other.key && one.ca === other.ca
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
  if (pair.ca !== undefined)
    parsed(() => new X509Certificate(`${pair.ca}`), `${files.clientCAFile}`, 'a certificate')
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
