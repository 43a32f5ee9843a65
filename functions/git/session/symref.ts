/**
 * The branch that the remote's HEAD names, read from git's packet trace (GIT_TRACE_PACKET): protocol 2 says it
 * beside HEAD, protocol 0 among the capabilities. Undefined: it is not said, or not as a name that can be used.
 */
export function readDefaultBranch(trace: readonly string[]): string | undefined {
  const traced = trace
    .map((line) => /(?: HEAD symref-target:|symref=HEAD:)refs\/heads\/(\S+)/.exec(line)?.[1])
    .find((candidate) => candidate !== undefined)
  if (traced === undefined) return undefined
  const name = unquote(traced)
  return UNFIT.test(name) || name.length > LONGEST ? undefined : name
}

// As long as a name in spec.branch may be: longer ones fit neither the status nor most hosts.
const LONGEST = 255

// What git-check-ref-format(1) forbids; a letter that is no UTF-8 would be pushed as another one.
const UNFIT = /[\\:?*[~^\p{Cc}\ufffd]|\.\./u

// A byte beyond ASCII is \ooo, or, where C's char has a sign, the 11 octal digits of a negative int.
function unquote(text: string): string {
  const bytes = text.replace(
    /\\(?:37777777([67][0-7]{2})|([23][0-7]{2}))/g,
    (_, signed?: string, plain?: string) => String.fromCharCode(parseInt(signed ?? plain ?? '', 8) & 0xff),
  )
  return Buffer.from(bytes, 'latin1').toString()
}
