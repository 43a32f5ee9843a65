import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { openApiServer } from '../functions/cluster/api-server.ts'
import type { ApiServer } from '../functions/cluster/api-server.ts'
import { startControlPlane } from '../test/harness/control-plane.ts'
import { configMap, gitCommit, install } from '../test/harness/installation.ts'
import type { Team } from '../test/harness/installation.ts'
import { median, table } from './figures.ts'
import { PATH } from './repository.ts'

const ROUNDS = 9

export interface EndToEnd {
  readonly caFile: string
  readonly token: string
  readonly repositories: readonly BenchRepository[]
}

/** A repository of the bench's Git server; `path` is its folder there. */
export interface BenchRepository {
  readonly name: string
  readonly title: string
  readonly url: string
  readonly path: string
}

/**
 * The main job on a real API server: milliseconds from the answer to "create this GitCommit" (the object is stored)
 * to the change of the ref on the Git server's disk. Both programs run as they are built, where dist/ is there.
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
    const rows = []
    for (const repository of repositories) {
      const times = await measure({ server, team, repository })
      rows.push([repository.title, median(times).toFixed(0)])
    }
    process.stdout.write(
      `\nEnd to end on a real API server, object stored to ref moved, median of ${ROUNDS}\n\n`,
    )
    process.stdout.write(table(['', 'ms'], rows))
  } finally {
    for (const end of undo.toReversed()) await end()
  }
}

interface Place {
  readonly server: ApiServer
  readonly team: Team
  readonly repository: BenchRepository
}

/** The first round only warms up: discovery, the connections and the compiled schema. */
async function measure(place: Place): Promise<readonly number[]> {
  const times: number[] = []
  for (let round = 0; round <= ROUNDS; round += 1) {
    const milliseconds = await commitOnce(place, `${place.repository.name}-${round}`)
    if (round > 0) times.push(milliseconds)
  }
  return times
}

async function commitOnce({ server, team, repository }: Place, name: string): Promise<number> {
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
