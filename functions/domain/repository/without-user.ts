/**
 * An entry of a list as it may be shown: all before its last `@` is `***`. A whole address with a password in it is
 * a likely slip where a host is asked for, and the sentence goes to a log or a status.
 */
export function withoutUser(entry: string): string {
  return entry.replace(/^.*@/s, '***@')
}
