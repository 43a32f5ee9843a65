import { randomBytes } from 'node:crypto'
import { elements } from '../../functions/domain/json-value.ts'
import type { HostModel, MemoryBranches, ModelPull } from '../harness/hosts/model.ts'
import type { AskNow } from './asking-now.ts'
import { livePull } from './live-pull.ts'

/** A repository of a real Gitea in the form of a stand-in's model: what is read or set there is read or set at the host. */
export function liveModel(
  ask: AskNow,
  repository: readonly [owner: string, name: string],
): HostModel & { readonly branches: MemoryBranches } {
  const root = `/repos/${repository.join('/')}`
  return {
    repository,
    branches: liveBranches(ask, root),
    // Which token may do what is decided by Gitea.
    tokens: new Map(),
    labels: new Set(),
    people: new Set(),
    get pulls() {
      return livePulls(ask, root)
    },
    get archived() {
      return false
    },
    set archived(archived) {
      ask('PATCH', root, { archived })
    },
    get movedTo(): readonly string[] | undefined {
      return undefined
    },
    set movedTo(place) {
      if (place !== undefined) ask('PATCH', root, { name: place.at(-1) })
    },
  }
}

/** All of them, oldest first; one that is put at the end is opened. */
function livePulls(ask: AskNow, root: string): ModelPull[] {
  const shown = elements(ask('GET', `${root}/pulls?state=all&sort=oldest&limit=50`))
  const pulls = shown.map((one) => livePull(ask, root, one))
  return Object.assign(pulls, {
    push({ base, head, title, body, state }: ModelPull) {
      for (const branch of [base, head])
        liveBranches(ask, root).set(branch, branch.startsWith('main') ? 1 : 3)
      const opened = livePull(ask, root, ask('POST', `${root}/pulls`, { base, head, title, body }))
      if (state !== 'open') opened.state = state
      return pulls.length + 1
    },
  })
}

/** A branch has one commit of main and then its own. */
function liveBranches(ask: AskNow, root: string): MemoryBranches {
  const own = (branch: string): number | undefined => {
    try {
      const query = new URLSearchParams({
        sha: `refs/heads/${branch}`,
        limit: '50',
        stat: 'false',
        files: 'false',
      })
      return elements(ask('GET', `${root}/commits?${query.toString()}`)).length
    } catch {
      return undefined
    }
  }
  return {
    has: (branch) => Promise.resolve(own(branch) !== undefined),
    ahead: () => Promise.reject(new Error('Gitea is not asked for it.')),
    set(branch, commits) {
      let there = own(branch)
      if (there !== undefined && there > commits) {
        ask('DELETE', `${root}/branches/${encodeURIComponent(branch)}`)
        there = undefined
      }
      if (there === undefined)
        ask('POST', `${root}/branches`, { new_branch_name: branch, old_branch_name: 'main' })
      for (let index = there ?? 1; index < commits; index += 1)
        ask('POST', `${root}/contents/${randomBytes(6).toString('hex')}`, {
          branch,
          content: '',
          message: 'More',
        })
    },
  }
}
