import { BROKEN, FORMS } from './found-key.ts'

/** A private key between its BEGIN and END lines. */
export interface KeyBlock {
  /** The words of the BEGIN line, such as `RSA PRIVATE KEY`. */
  readonly label: string
  /** The lines between, each with a newline. */
  readonly body: string
}

/** The text of a file with a key as users store it: lines of YAML may be indented, and Windows has other line ends. */
export function plainText(value: Uint8Array): string {
  const lines = new TextDecoder().decode(value).split(/\r\n|\r|\n/)
  return lines.map((line) => line.trim()).join('\n')
}

/** The first private key of a text; undefined if there is none, or no end of it. */
export function findBlock(text: string): KeyBlock | undefined {
  const lines = text.split('\n')
  const begin = lines.findIndex((line) => labelOf(line) !== undefined)
  const label = labelOf(lines[begin] ?? '')
  const end = lines.indexOf(`-----END ${label ?? ''}-----`, begin + 1)
  if (label === undefined || end === -1) return undefined
  return {
    label,
    body: lines
      .slice(begin + 1, end)
      .map((line) => `${line}\n`)
      .join(''),
  }
}

/** What the text without a private key is, as the rest of a sentence. */
export function complaintOf(text: string): string {
  if (text.trim() === '') return `is empty, but has to hold ${FORMS}`
  if (text.startsWith('PuTTY-User-Key-File-'))
    return 'holds a key in the format of PuTTY; convert it with `puttygen FILE -O private-openssh -o NEW`'
  if (/^(ssh|ecdsa|sk)-[a-z0-9@.-]+-cert-v01@openssh\.com /m.test(text))
    return 'holds an SSH certificate, but has to hold the private key; certificates are not supported'
  if (
    /^((ssh|ecdsa|sk)-[a-z0-9@.-]+ AAAA|-----BEGIN ([A-Z0-9]+ )?PUBLIC KEY|---- BEGIN SSH2 PUBLIC)/m.test(
      text,
    )
  )
    return 'holds a public key, but has to hold the private one (the file without .pub)'
  if (/^-----BEGIN ([A-Z0-9 ]*)PRIVATE KEY-----/m.test(text)) return BROKEN
  if (Buffer.from(text, 'base64').includes('-----BEGIN '))
    return 'is encoded in base64 twice; put the text of the file into stringData, or encode it only once'
  return `does not hold a private key, but has to hold ${FORMS}`
}

function labelOf(line: string): string | undefined {
  return /^-----BEGIN ([A-Z0-9 ]*PRIVATE KEY)-----$/.exec(line)?.[1]
}
