import { createPrivateKey, X509Certificate } from 'node:crypto'
import { orUndefined } from '../../functions/domain/settings.ts'
import type { Issued } from './issue.ts'

/** A certificate that will be served once every API server trusts its authority. */
export interface NextCertificate extends Issued {
  /** Since when both webhook configurations trust it, RFC 3339; undefined: they do not yet. */
  readonly trustedSince: string | undefined
}

/** What the Secret holds, which all replicas share. */
export interface CertificateState {
  /** What is served; undefined: nothing that can be. */
  readonly current: Issued | undefined
  readonly next: NextCertificate | undefined
  /** Authorities of what was served before, the newest first: PEM texts. */
  readonly previous: readonly string[]
}

/** Earlier authorities that are kept: a replica may still serve the certificate of one. */
const MOST_PREVIOUS = 2
const PEM = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g

/** Reads the texts of the Secret. What cannot be used, such as a key that does not belong to its certificate, is left out. */
export function readState(texts: Readonly<Record<string, string>>): CertificateState {
  const [authority, ...previous] = certificatesIn(texts['ca.crt'] ?? '')
  const current = issued(texts['tls.crt'], texts['tls.key'], authority)
  const next = issued(texts['next.crt'], texts['next.key'], texts['next-ca.crt'])
  return {
    current,
    next: next && { ...next, trustedSince: texts['next-trusted-since'] },
    previous: current === undefined && authority !== undefined ? [authority, ...previous] : previous,
  }
}

/** The texts of the Secret for this state. */
export function writeState({ current, next, previous }: CertificateState): Readonly<Record<string, string>> {
  return {
    'tls.crt': current?.cert ?? '',
    'tls.key': current?.key ?? '',
    'ca.crt': joined([...(current === undefined ? [] : [current.authority]), ...previous]),
    ...(next === undefined
      ? {}
      : { 'next.crt': next.cert, 'next.key': next.key, 'next-ca.crt': next.authority }),
    ...(next?.trustedSince === undefined ? {} : { 'next-trusted-since': next.trustedSince }),
  }
}

/** The authorities that the API server has to trust, the newest first. */
export function bundleOf({ current, next, previous }: CertificateState): string {
  return joined([next?.authority ?? '', current?.authority ?? '', ...previous])
}

/** The state in which this certificate is served from now on. */
export function serving(
  issued: Issued,
  { current, previous }: CertificateState,
  now: Date,
): CertificateState {
  const { cert, key, authority } = issued
  const before = [...(current === undefined ? [] : [current.authority]), ...previous]
  const valid = before.filter((one) => endOf(one) > now.getTime()).slice(0, MOST_PREVIOUS)
  return { current: { cert, key, authority }, next: undefined, previous: valid }
}

/** Each certificate of a PEM text; what is between them is ignored. */
export function certificatesIn(pem: string): readonly string[] {
  return pem.match(PEM) ?? []
}

/** When a certificate expires, in milliseconds since 1970; 0 if it cannot be read. */
export function endOf(pem: string): number {
  return orUndefined(() => new X509Certificate(pem).validToDate.getTime()) ?? 0
}

function joined(pems: readonly string[]): string {
  return pems
    .map((pem) => pem.trim())
    .filter((pem) => pem !== '')
    .map((pem) => `${pem}\n`)
    .join('')
}

function issued(cert = '', key = '', authority = ''): Issued | undefined {
  const fits = orUndefined(() => {
    const certificate = new X509Certificate(cert)
    return (
      certificate.checkPrivateKey(createPrivateKey(key)) &&
      certificate.verify(new X509Certificate(authority).publicKey)
    )
  })
  return fits === true ? { cert, key, authority } : undefined
}
