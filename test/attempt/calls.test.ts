import t from 'tap'
import type { Test } from 'tap'
import { handle } from '../../functions/attempt/attempt.ts'
import { finder } from '../../functions/attempt/find.ts'
import type { ApiServer } from '../../functions/cluster/api-server.ts'
import { connectCluster } from '../../functions/cluster/connect.ts'
import type { AttemptSettings, World } from '../../functions/world.ts'
import { openAs } from '../cluster/stage.ts'
import { accountConfigs } from '../harness/accounts.ts'
import { installObjects } from '../harness/commitlet.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { configMap } from '../harness/installation.ts'
import { gitCommit, memoryWorld } from '../harness/memory-world.ts'
import { grant, reviewed } from '../harness/rights.ts'
import { createTeam, type Team } from '../harness/team.ts'
import { waitFor } from '../harness/wait.ts'

const USE_DEFAULT = { apiGroups: ['commitlet.dev'], resources: ['defaultcredentials'], verbs: ['use'] }
const DEFAULTS: AttemptSettings['defaults'] = {
  source: { token: 'a-default-token' },
  username: undefined,
  repositories: 'git.example.com/acme',
  paths: undefined,
}

/** Calls of the API server as they began and ended, each called by what it is about. */
interface Journal {
  readonly begun: string[]
  /** `+` begins a call, `-` ends it. */
  readonly steps: string[]
  readonly server: ApiServer
}

function journalOf(server: ApiServer): Journal {
  const [begun, steps]: [string[], string[]] = [[], []]
  return {
    begun,
    steps,
    async server(call) {
      const name = nameOf(call)
      begun.push(name)
      steps.push(`+ ${name}`)
      return server(call).finally(() => steps.push(`- ${name}`))
    },
  }
}

function nameOf({ method, path, body }: Parameters<ApiServer>[0]): string {
  if (path.endsWith('/subjectaccessreviews')) {
    const { spec } = body as {
      readonly spec: { readonly resourceAttributes: { readonly resource: string } }
    }
    return `review ${spec.resourceAttributes.resource}`
  }
  const plural = /(gitcommits|configmaps|secrets|events)(?:\/|$)/.exec(path)?.[1]
  return `${method} ${plural ?? path}`
}

withControlPlane(t, async (t, plane) => {
  await installObjects(plane)
  const { function: account } = await accountConfigs(plane)
  const team = await createTeam(plane, { developers: ['developer'] })
  await team.apply(configMap(), ...grant('default-credentials', 'developer', [USE_DEFAULT]))
  const { namespace } = team
  for (const [verb, resource, group] of [
    ['get', 'configmaps', ''],
    ['get', 'secrets', ''],
    ['use', 'defaultcredentials', 'commitlet.dev'],
  ] as const) {
    const right = { namespace, verb, resource, group, name: resource === 'secrets' ? 'git' : 'shop' }
    const look = async (): Promise<true | undefined> =>
      (await reviewed(plane, 'developer', right)) || undefined
    await waitFor(`the right to ${verb} ${resource}`, look, 30_000)
  }

  /** One attempt at a new GitCommit, by a pod that knows how ConfigMaps are served. */
  async function attempt(t: Test, name: string, isDefault = false): Promise<Journal> {
    const journal = journalOf(openAs(account))
    const cluster = connectCluster(journal.server)
    await cluster.discover('v1', 'ConfigMap')
    t.strictSame(journal.begun.splice(0), ['GET /api/v1'])
    journal.steps.length = 0
    const memory = memoryWorld(new Date())
    const world: World = { ...memory, cluster, settings: { ...memory.settings, defaults: DEFAULTS } }
    await team.apply(resource(team, name, isDefault))
    await handle({ kind: 'GitCommit', namespace: team.namespace, name }, finder(cluster, BOUNDS), world)
    await cluster.flushEvents()
    t.match((await team.get(name)).status, { phase: 'Succeeded' })
    return journal
  }

  t.test('a commit with a Secret makes eight calls, a commit with default credentials seven', async (t) => {
    const withSecret = await attempt(t, 'with-secret')
    const sorted = (names: readonly string[]): readonly string[] => [...names].sort()
    t.strictSame(
      sorted(withSecret.begun),
      sorted([
        'GET gitcommits',
        'PATCH gitcommits',
        'review configmaps',
        'review secrets',
        'GET configmaps',
        'GET secrets',
        'PATCH gitcommits',
        'POST events',
      ]),
    )
    const withDefault = await attempt(t, 'with-default', true)
    t.strictSame(
      sorted(withDefault.begun),
      sorted([
        'GET gitcommits',
        'PATCH gitcommits',
        'review configmaps',
        'review defaultcredentials',
        'GET configmaps',
        'PATCH gitcommits',
        'POST events',
      ]),
    )
  })

  t.test('the reviews run during the claim; what they allow is read afterwards, side by side', async (t) => {
    const { steps } = await attempt(t, 'side-by-side')
    const at = (step: string): number => steps.indexOf(step)
    for (const reviewed of ['configmaps', 'secrets']) {
      t.ok(at(`+ review ${reviewed}`) < at('- PATCH gitcommits'), `${reviewed}: reviewed during the claim`)
      t.ok(at('- PATCH gitcommits') < at(`+ GET ${reviewed}`), `${reviewed}: read once claimed`)
      t.ok(at(`- review ${reviewed}`) < at(`+ GET ${reviewed}`), `${reviewed}: read once it is allowed`)
    }
    t.ok(at('+ GET secrets') < at('- GET configmaps'))
    t.ok(at('+ GET configmaps') < at('- GET secrets'))
  })
})

const BOUNDS = { reads: 8, waits: 8 }

function resource({ namespace }: Team, name: string, isDefault: boolean) {
  const { metadata, spec, ...rest } = gitCommit()
  const { credentials, ...others } = spec as { readonly credentials: unknown }
  return {
    ...rest,
    metadata: { ...metadata, name, namespace },
    spec: isDefault ? others : { ...others, credentials },
  }
}
