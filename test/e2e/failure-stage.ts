import type { Test } from 'tap'
import type { Exchange } from '../harness/git-exchange.ts'
import type { Fault } from '../harness/git-faults.ts'
import type { GitRepository, RepositoryOptions } from '../harness/git-repository.ts'
import type { GitServer } from '../harness/git-server.ts'
import { startGitServer } from '../harness/git-server.ts'
import { TOKEN } from '../harness/installation.ts'
import type { Team } from '../harness/installation.ts'

/** What a user meets. */
export interface Scene {
  readonly repository: string
  readonly credentials?: object
  /** What the user, or the operator of the server, does then. */
  readonly fix: () => Promise<unknown>
}

/** Makes repositories that fail, on this server or on a separate one. */
export function stageFailures(t: Test, git: GitServer) {
  /** A repository of the team, and what fixes it. */
  async function broken(
    team: Team,
    options: RepositoryOptions,
    fix: (repository: GitRepository) => Promise<unknown>,
  ): Promise<Scene> {
    const repository = await git.createRepository(`${team.namespace}/config`, options)
    return { repository: repository.url, fix: () => fix(repository) }
  }

  /** A repository whose server has this fault. */
  async function faulty(team: Team, fault: Fault, exchange: Exchange): Promise<Scene> {
    const repository = await git.createRepository(`${team.namespace}/config`)
    const switchOff = git.faults.add(fault, { repository: repository.name, exchange })
    return { repository: repository.url, fix: async () => switchOff() }
  }

  /** A server at its own port, whose certificate this authority signs. */
  async function serveAt(port: number, authority = git.authority) {
    const server = await startGitServer({ port, authority, users: [{ password: TOKEN }] })
    t.teardown(() => server.close())
    const { url } = await server.createRepository('acme/config')
    return { url, close: () => server.close() }
  }

  return { broken, faulty, serveAt }
}
