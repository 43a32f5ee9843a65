import type { GitRepository } from '../git-repository.ts'
import type { ModelBranches } from './model.ts'

/** The branches of a real bare repository, which has no forks. */
export function gitBranches({ git }: Pick<GitRepository, 'git'>): ModelBranches {
  async function has(branch: string, owner?: string): Promise<boolean> {
    if (owner !== undefined) return false
    return (await git('for-each-ref', '--format=%(refname)', refOf(branch))) === refOf(branch)
  }
  return {
    has,
    async ahead(base, head, owner) {
      if (!(await has(base)) || !(await has(head, owner))) return 0
      return Number(await git('rev-list', '--count', `${refOf(base)}..${refOf(head)}`))
    },
  }
}

function refOf(branch: string): string {
  return `refs/heads/${branch}`
}
