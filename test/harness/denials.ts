/**
 * The sentences of a denial in what kubectl prints of it: of a 422 one for each cause, with its field before it as in
 * the webhook's own sentence. None where kubectl prints no such thing.
 */
export function sentencesIn(stderr: string): readonly string[] {
  const [, causes = ''] = /^The (?:GitCommit|PullRequest) "[^"]*" is invalid: ([^]*)$/m.exec(stderr) ?? []
  return causes
    .split(/^\* /m)
    .map((cause) => cause.trim().replace(/^([\w.[\]]+): /, '$1 '))
    .filter((sentence) => sentence !== '')
}
