import { makeKey } from '../harness/ssh-keys.ts'
import type { Gitea, GiteaUser } from './gitea.ts'

export const OWNER = 'acme'
/** The branch that has a commit more than main. */
export const HEAD = 'settings'

/** Everything that logs in to the Gitea of the tests. */
export interface Logins {
  readonly token: string
  /** May not write. */
  readonly readToken: string
  /** Of a user who has no access to private repositories. */
  readonly strangersToken: string
  readonly password: string
  /** A key of the owner. */
  readonly key: string
  /** A deploy key of `lab`. */
  readonly deployKey: string
  /** A deploy key of `lab` that may not write. */
  readonly readKey: string
  /** A key that nobody has added. */
  readonly otherKey: string
}

/** Each repository, and what is special about it; all but `open` are private. */
const REPOSITORIES: Readonly<Record<string, (owner: GiteaUser, path: string) => Promise<unknown>>> = {
  lab: () => Promise.resolve(),
  open: ({ ask }, path) => ask('PATCH', path, { private: false }),
  guarded: ({ ask }, path) =>
    ask('POST', `${path}/branch_protections`, { rule_name: 'main', enable_push: false }),
  old: ({ ask }, path) => ask('PATCH', path, { archived: true }),
  unreviewed: ({ ask }, path) => ask('PATCH', path, { has_pull_requests: false }),
  before: ({ ask }, path) => ask('PATCH', path, { name: 'renamed' }),
}

/** Makes a repository of this user with the branches main and settings; with a README unless it is to be empty. */
export async function makeRepository({ ask, name: owner }: GiteaUser, name: string): Promise<string> {
  const path = `/repos/${owner}/${name}`
  await ask('POST', '/user/repos', { name, private: true, auto_init: true, default_branch: 'main' })
  const content = Buffer.from('colour: blue\n').toString('base64')
  const change = { content, message: 'Settings', branch: 'main', new_branch: HEAD }
  await ask('POST', `${path}/contents/settings.yaml`, change)
  return path
}

/** Makes the repositories lab, open, guarded, old, unreviewed, renamed (which was called before) and empty. */
export async function makeRepositories(owner: GiteaUser): Promise<void> {
  for (const [name, special] of Object.entries(REPOSITORIES))
    await special(owner, await makeRepository(owner, name))
  await owner.ask('POST', '/user/repos', { name: 'empty', private: true, default_branch: 'main' })
}

/** Makes tokens and keys of the owner and of a stranger, once the repositories are there. */
export async function makeLogins(gitea: Gitea, { ask, name, ...owner }: GiteaUser): Promise<Logins> {
  const stranger = await gitea.createUser('bob')
  const [key, deployKey, readKey, otherKey] = Array.from({ length: 4 }, () => makeKey('-t', 'ed25519'))
  await ask('POST', '/user/keys', { title: 'commitlet', key: key?.publicKey })
  for (const [title, { publicKey = '' } = {}] of Object.entries({ write: deployKey, read: readKey }))
    await ask('POST', `/repos/${name}/lab/keys`, { title, key: publicKey, read_only: title === 'read' })
  return {
    token: await owner.token('write:repository', 'write:issue'),
    readToken: await owner.token('read:repository'),
    strangersToken: await stranger.token('write:repository'),
    password: owner.password,
    key: key?.privateKey ?? '',
    deployKey: deployKey?.privateKey ?? '',
    readKey: readKey?.privateKey ?? '',
    otherKey: otherKey?.privateKey ?? '',
  }
}
