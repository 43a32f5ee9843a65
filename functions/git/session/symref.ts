import { isUsableBranch } from '../branch.ts'

/**
 * The branch that the remote's HEAD points to, read from git's packet trace (GIT_TRACE_PACKET): protocol 2 reports it
 * with HEAD, protocol 0 in the capabilities. Undefined: it is not reported, or is not a usable name
 * for a login with these secrets.
 */
export function readDefaultBranch(trace: readonly string[], secrets: readonly string[]): string | undefined {
  const traced = trace
    .map((line) => /(?: HEAD symref-target:|symref=HEAD:)refs\/heads\/(\S+)/.exec(line)?.[1])
    .find((candidate) => candidate !== undefined)
  if (traced === undefined) return undefined
  const name = unquote(traced)
  return isUsableBranch(name, secrets) ? name : undefined
}

// A byte beyond ASCII is written as \ooo, or, if C's char is signed, as the 11 octal digits of a negative int.
function unquote(text: string): string {
  const bytes = text.replace(
    /\\(?:37777777([67][0-7]{2})|([23][0-7]{2}))/g,
    (_, signed?: string, plain?: string) => String.fromCharCode(parseInt(signed ?? plain ?? '', 8) & 0xff),
  )
  return Buffer.from(bytes, 'latin1').toString()
}
