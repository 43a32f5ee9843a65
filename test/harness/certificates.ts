import { isIP } from 'node:net'
import { generate } from 'selfsigned'

/** A certificate and its private key (PKCS#8), both PEM. */
export interface Certificate {
  readonly certPEM: string
  readonly keyPEM: string
}

/** What a certificate is for. */
export interface CertificateRequest {
  /** DNS names and IP addresses of a server; empty for a client. */
  readonly names: readonly string[]
  /** It expired yesterday. */
  readonly expired?: boolean
  /** It is valid from tomorrow on. */
  readonly early?: boolean
  /** Common name; kube-apiserver reads it as the user name of a client certificate. */
  readonly clientName?: string
  /** Organizations; kube-apiserver reads them as the groups of a client certificate. */
  readonly organization?: string | readonly string[]
}

/** A throwaway certificate authority; its key may be written to a private file for another process. */
export interface Authority extends Certificate {
  issue(request: CertificateRequest): Promise<Certificate>
}

const HOUR = 3_600_000
const FORM = { keyType: 'ec', algorithm: 'sha256' } as const

/** Makes an authority that is valid for a day; needs no openssl on the machine. */
export async function makeAuthority(name = 'Commitlet test authority'): Promise<Authority> {
  const ca = await generate([{ name: 'commonName', value: name }], {
    ...FORM,
    ...validity({ names: [] }),
    extensions: [
      { name: 'basicConstraints', cA: true, critical: true },
      { name: 'keyUsage', keyCertSign: true, cRLSign: true, critical: true },
    ],
  })
  return restoreAuthority({ certPEM: ca.cert, keyPEM: ca.private })
}

/** The authority that another process made. */
export function restoreAuthority(ca: Certificate): Authority {
  return {
    ...ca,
    async issue(request) {
      const leaf = await generate(subject(request), {
        ...FORM,
        ...validity(request),
        ca: { key: ca.keyPEM, cert: ca.certPEM },
        extensions: [
          { name: 'basicConstraints', cA: false, critical: true },
          { name: 'keyUsage', digitalSignature: true, critical: true },
          { name: 'extKeyUsage', serverAuth: true, clientAuth: true },
          ...alternativeNames(request.names),
        ],
      })
      return { certPEM: leaf.cert, keyPEM: leaf.private }
    },
  }
}

function validity({ expired = false, early = false }: CertificateRequest): {
  notBeforeDate: Date
  notAfterDate: Date
} {
  const end = Date.now() + (expired ? -24 * HOUR : early ? 72 * HOUR : 24 * HOUR)
  return { notBeforeDate: new Date(end - 48 * HOUR), notAfterDate: new Date(end) }
}

function subject(request: CertificateRequest): { name: string; value: string }[] {
  const commonName = { name: 'commonName', value: request.clientName ?? request.names[0] ?? 'nobody' }
  const organizations = [request.organization ?? []].flat()
  return [...organizations.map((value) => ({ name: 'organizationName', value })), commonName]
}

function alternativeNames(names: readonly string[]) {
  if (names.length === 0) return []
  const altNames = names.map((name) =>
    isIP(name) === 0 ? { type: 2 as const, value: name } : { type: 7 as const, ip: name },
  )
  return [{ name: 'subjectAltName' as const, altNames }]
}
