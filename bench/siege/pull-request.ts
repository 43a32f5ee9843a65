/** A PullRequest of this name, at a host of the attacker's. */
export function pullRequestAt(origin: string, name: string): object {
  return {
    apiVersion: 'commitlet.dev/v1',
    kind: 'PullRequest',
    metadata: { name },
    spec: {
      repository: `${origin}/acme/${name}.git`,
      baseBranch: 'main',
      headBranch: 'change',
      title: 'Change the shop',
      credentials: { secretName: 'git', tokenKey: 'token' },
      provider: 'gitea',
      providerConfig: { baseURL: `${origin}/api/v1` },
    },
  }
}
