import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { GIT_ENGINES, type GitEngine } from '../../functions/config.ts'
import { openApiServer } from '../../functions/cluster/api-server.ts'
import type { ApiServer } from '../../functions/cluster/api-server.ts'
import { startControlPlane } from '../../test/harness/control-plane.ts'
import { configMap, gitCommit, install } from '../../test/harness/installation.ts'
import type { Team } from '../../test/harness/installation.ts'
import { median, table } from '../statistics.ts'
import { PATH } from './sample-repository.ts'

const ROUNDS = 9

export interface EndToEnd {
  readonly caFile: string
  readonly token: string
  readonly repositories: readonly BenchRepository[]
}

/** A repository of the benchmark's Git server. `path` is its folder on disk. */
export interface BenchRepository {
  readonly name: string
  readonly title: string
  readonly url: string
  readonly path: string
}

/**
 * Measures a commit on a real API server: milliseconds from the response to the creation of the GitCommit (it is
 * stored) to the update of the ref on the Git server's disk. Both programs run from dist/ if it exists.
 */
export async function endToEnd({ caFile, token, repositories }: EndToEnd): Promise<void> {
  const plane = await startControlPlane({ own: true })
  if ('missing' in plane) {
    process.stdout.write(`\nEnd to end: not measured, ${plane.missing}\n`)
    return
  }
  const undo: (() => unknown)[] = [() => plane.stop()]
  try {
    const commitlet = await install({ teardown: (end) => void undo.push(end as () => unknown) }, plane, {
      functionEnv: { CA_FILE: caFile },
    })
    const team = await commitlet.createTeam()
    await team.apply({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'git' }, stringData: { token } })
    process.env.KUBECONFIG = plane.kubeconfig
    const server = openApiServer()
    const rows: string[][] = repositories.map(({ title }) => [title])
    let running = commitlet.function
    for (const engine of GIT_ENGINES) {
      await running.stop()
      running = await commitlet.startFunction({ GIT_ENGINE: engine })
      for (const [i, repository] of repositories.entries()) {
        const times = await measure({ server, team, repository }, engine)
        rows[i]?.push(median(times).toFixed(0))
      }
    }
    process.stdout.write(
      `\nEnd to end on a real API server, milliseconds from object stored to ref moved, median of ${ROUNDS}\n\n`,
    )
    process.stdout.write(table(['', ...GIT_ENGINES], rows))
  } finally {
    for (const end of undo.toReversed()) await end()
  }
}

interface Site {
  readonly server: ApiServer
  readonly team: Team
  readonly repository: BenchRepository
}

/** The first round only warms up discovery, the connections and the compiled schema. */
async function measure(site: Site, engine: GitEngine): Promise<readonly number[]> {
  const times: number[] = []
  for (let round = 0; round <= ROUNDS; round += 1) {
    const milliseconds = await commitOnce(site, `${engine}-${site.repository.name}-${round}`)
    if (round > 0) times.push(milliseconds)
  }
  return times
}

async function commitOnce({ server, team, repository }: Site, name: string): Promise<number> {
  await team.apply(configMap({ round: name }))
  const body = gitCommit(name, repository.url, {
    branch: 'main',
    resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path: PATH },
  })
  const path = `/apis/commitlet.dev/v1/namespaces/${team.namespace}/gitcommits`
  const created = await server({ method: 'POST', path, body })
  const stored = Date.now()
  if (created.status !== 201) throw new Error(created.text)
  await team.waitFor(name, 'condition=Ready')
  return (await stat(join(repository.path, 'refs/heads/main'))).mtimeMs - stored
}
