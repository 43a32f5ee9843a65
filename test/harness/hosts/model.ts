import type { ModelApps } from './github-app.ts'

/** The state of a stand-in for a host, for one repository: branches, tokens and pull requests. */
export interface HostModel {
  /** The repository's path at its host, such as ["acme", "shop"]. */
  readonly repository: readonly string[]
  /** What its API takes for the parts of that path, one for each; undefined: nothing else. */
  readonly uuids?: readonly string[] | undefined
  readonly branches: ModelBranches
  /** What each token may do; an unknown one is refused. */
  readonly tokens: Map<string, TokenRight>
  /** What the host tells of a token; a token without it belongs to `dev` and never ends. */
  readonly identities?: Map<string, ModelIdentity>
  /** The branches that are protected, and whether the rules let any user push. */
  readonly protections?: Map<string, boolean>
  /** In the order in which they were opened. */
  readonly pulls: ModelPull[]
  /** Labels and people that the host knows. */
  readonly labels: Set<string>
  readonly people: Set<string>
  /** Makes commits where the host does it itself; undefined: it makes none. */
  readonly commits?: ModelCommits
  /** Undefined: the host has no Apps. */
  readonly apps?: ModelApps
  archived: boolean
  /** Its path since it was renamed; undefined: it was not. */
  movedTo: readonly string[] | undefined
}

/** `write`: all; `read`: a scope or permission is missing for writing; `stranger`: the repository is invisible. */
export type TokenRight = 'write' | 'read' | 'stranger'

/** The token as its host shows it. */
export interface ModelIdentity {
  /** Undefined: the token has no user, or may not ask for it. */
  readonly user: string | undefined
  /** Undefined: it has no scopes that are told. */
  readonly scopes: readonly string[] | undefined
  /** A date with a time in UTC; undefined: it has no end. */
  readonly expires?: string
}

/** Real branches of a repository, or some in memory. */
export interface ModelBranches {
  /** Whether it exists. `owner`: in the fork of that owner. */
  has(branch: string, owner?: string): Promise<boolean>
  /** The number of commits in the head that are not in the base. */
  ahead(base: string, head: string, owner?: string): Promise<number>
}

/** Commits that the host makes itself. */
export interface ModelCommits {
  /** The name of the new commit, or that the branch is not where it was expected. */
  commit(asked: {
    readonly branch: string
    readonly expected: string
    readonly message: string
    readonly additions: readonly { readonly path: string; readonly content: Uint8Array }[]
    readonly deletions: readonly string[]
  }): string
}

export interface ModelPull {
  readonly number: number
  readonly base: string
  readonly head: string
  /** Owner of the fork; undefined: the repository's own branch. */
  readonly headOwner: string | undefined
  title: string
  body: string
  draft: boolean
  state: 'open' | 'merged' | 'closed'
  readonly opened: Date
  /** When its text was written last. */
  written: Date
  readonly labels: string[]
  readonly reviewers: string[]
  readonly assignees: string[]
}

/** Branches in memory: each has this many commits more than an empty one. */
export interface MemoryBranches extends ModelBranches {
  set(branch: string, commits: number, owner?: string): void
}

/** An empty repository in memory with a branch main, a token for writing, some labels and some people. */
export function memoryModel(
  options: Partial<Pick<HostModel, 'repository' | 'uuids'>> & { readonly people?: readonly string[] } = {},
): HostModel & { readonly branches: MemoryBranches } {
  const branches = memoryBranches()
  branches.set('main', 1)
  return {
    repository: options.repository ?? ['acme', 'shop'],
    uuids: options.uuids,
    branches,
    tokens: new Map([['good-token', 'write']]),
    pulls: [],
    labels: new Set(['settings', 'urgent']),
    identities: new Map(),
    protections: new Map(),
    people: new Set(options.people ?? ['dev', 'ops']),
    archived: false,
    movedTo: undefined,
  }
}

function memoryBranches(): MemoryBranches {
  const commits = new Map<string, number>()
  const keyOf = (branch: string, owner = ''): string => `${owner}:${branch}`
  const count = (branch: string, owner?: string): number => commits.get(keyOf(branch, owner)) ?? 0
  return {
    set: (branch, many, owner) => void commits.set(keyOf(branch, owner), many),
    has: (branch, owner) => Promise.resolve(commits.has(keyOf(branch, owner))),
    ahead: (base, head, owner) => Promise.resolve(Math.max(0, count(head, owner) - count(base))),
  }
}

/** The path by which the model knows the repository that is called by this one, where it is that. */
export function knownPath({ repository, uuids }: HostModel, called: readonly string[]): string {
  const lower = called.map((part) => part.toLowerCase())
  return lower
    .map((part, index) => (part === uuids?.[index] ? repository[index] : part))
    .join('/')
    .toLowerCase()
}

/** Opens one in the model, whatever is there already. */
export function addPull(
  model: HostModel,
  pull: Pick<ModelPull, 'base' | 'head' | 'title'> & Partial<ModelPull>,
): ModelPull {
  const now = new Date()
  const opened: ModelPull = {
    opened: now,
    written: now,
    body: '',
    draft: false,
    state: 'open',
    headOwner: undefined,
    labels: [],
    reviewers: [],
    assignees: [],
    ...pull,
    number: model.pulls.length + 1,
  }
  model.pulls.push(opened)
  return opened
}
