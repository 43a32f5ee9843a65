/** A serving certificate with its key, and the authority that has signed it and nothing else. All PEM. */
export interface Issued {
  readonly cert: string
  readonly key: string
  readonly authority: string
}

/** For whom, and until when. */
export interface IssueRequest {
  /** The DNS name of the server. */
  readonly host: string
  readonly now: Date
  readonly days: number
}

/** Clocks of API servers may be behind. */
const EARLIER_MS = 3_600_000
const DAY_MS = 86_400_000
const FORM = { keyType: 'ec', curve: 'P-256', algorithm: 'sha256' } as const

/** Makes a certificate, signed by an authority of its own whose key is then forgotten. */
export async function issueCertificate({ host, now, days }: IssueRequest): Promise<Issued> {
  // Only installations that keep their own certificate load it.
  const { generate } = await import('selfsigned')
  const validity = {
    notBeforeDate: new Date(now.getTime() - EARLIER_MS),
    notAfterDate: new Date(now.getTime() + days * DAY_MS),
  }
  const authority = await generate(
    [{ name: 'commonName', value: `Commitlet webhook authority ${now.toISOString()}` }],
    {
      ...FORM,
      ...validity,
      extensions: [
        { name: 'basicConstraints', cA: true, pathLenConstraint: 0, critical: true },
        { name: 'keyUsage', keyCertSign: true, critical: true },
      ],
    },
  )
  const leaf = await generate([{ name: 'commonName', value: 'commitlet-webhook' }], {
    ...FORM,
    ...validity,
    ca: { key: authority.private, cert: authority.cert },
    extensions: [
      { name: 'basicConstraints', cA: false, critical: true },
      { name: 'keyUsage', digitalSignature: true, critical: true },
      { name: 'extKeyUsage', serverAuth: true },
      { name: 'subjectAltName', altNames: [{ type: 2, value: host }] },
    ],
  })
  return { cert: leaf.cert, key: leaf.private, authority: authority.cert }
}
