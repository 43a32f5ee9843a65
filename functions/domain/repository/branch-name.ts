/** The rules of git-check-ref-format(1) and one of ours for `refs/heads/<name>`, each with its message. */
const RULES: readonly (readonly [RegExp, string])[] = [
  [/^$/, 'is empty'],
  // "git branch" and "git check-ref-format --branch" refuse these two, plumbing accepts them.
  [/^-/, 'begins with "-"'],
  [/^HEAD$/, 'is "HEAD"'],
  // Git accepts it, but can then not push to the branch of the short name any more, because two refs match.
  [/^refs\//, 'begins with "refs/", as full names of refs do'],
  [/^\.|\/\./, 'has a part that begins with "."'],
  [/\.lock$|\.lock\//, 'has a part that ends in ".lock"'],
  [/\.\./, 'contains ".."'],
  [/[\x00-\x20\x7f]/, 'contains a space or a control character'],
  [/[~^:?*[\\]/, 'contains one of ~ ^ : ? * [ \\'],
  [/^\/|\/$|\/\//, 'begins or ends with "/" or contains "//"'],
  [/\.$/, 'ends with "."'],
  [/@\{/, 'contains "@{"'],
  [/\p{Cs}/u, 'contains half a character (a lone surrogate)'],
]

/**
 * Why a text is not the short name of a branch, as the end of a sentence ("begins with …"); undefined if it is one.
 * Source: git-check-ref-format(1), with `--branch`.
 */
export function branchComplaint(name: string): string | undefined {
  return RULES.find(([pattern]) => pattern.test(name))?.[1]
}

/**
 * The short name of the branch that `refs/heads/<name>` or `<remote>/<name>` of the remote `origin` stands for; undefined if
 * the name is neither, or the rest is no name of a branch.
 */
export function shortBranchName(name: string): string | undefined {
  const [, short] = /^(?:refs\/heads\/|(?:refs\/remotes\/|remotes\/)?origin\/)(.+)$/.exec(name) ?? []
  return short === undefined || branchComplaint(short) !== undefined ? undefined : short
}
