/**
 * The sentences of a denial in the output of kubectl: for a 422 one for each cause, with its field in front as in
 * the webhook's own sentence. Empty where kubectl prints no denial.
 */
export function sentencesIn(stderr: string): readonly string[] {
  const [, causes = ''] = /^The (?:GitCommit|PullRequest) "[^"]*" is invalid: ([^]*)$/m.exec(stderr) ?? []
  return causes
    .split(/^\* /m)
    .map((cause) => cause.trim().replace(/^([\w.[\]]+): /, '$1 '))
    .filter((sentence) => sentence !== '')
}
