/**
 * Words of hosts of which a repository, or the owner of it, has reached its size: GitLab ("would exceed storage limits", "has
 * exceeded its size limit"), GitHub and Forgejo ("quota"), Bitbucket ("over 2 GB size limit", and of users "exceeded its user limit"),
 * Azure DevOps ("increase this repository size"). A limit for one file or one push is about the commit.
 */
const FULL =
  /\bquota\b|\bstorage (?:size )?limit|\brepository size\b|\bexceeded its user limit\b|\b(?:repository|repo|project|namespace)\b[^\n]{0,80}?(?<!file )\bsize limit\b/i

/**
 * Whether a host refuses a commit because there is no room left for it. What others have filled they may free, so this is
 * no final refusal.
 */
export function isFull(words: string): boolean {
  return FULL.test(words)
}
