import t from 'tap'
import type { Test } from 'tap'
import { readyOf } from '../harness/conditions.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import type { ControlPlane } from '../harness/control-plane.ts'
import { configMap, gitCommit, install } from '../harness/installation.ts'
import type { Stored, Team } from '../harness/installation.ts'
import { waitFor } from '../harness/wait.ts'

const SCHEMA = '/spec/versions/0/schema/openAPIV3Schema/properties'
const DEADLINE_MS = 60_000
/** The first wait of a slow reason is 5 min; a transient one waits some seconds. */
const SLOW_MS = 4 * 60_000

/** Fields that the next release has added: where each one is, and a patch of the spec that uses it. */
const ADDED = [
  ['spec.mode', `${SCHEMA}/spec/properties/mode`, { mode: 'fast' }],
  [
    'spec.credentials.signingKey',
    `${SCHEMA}/spec/properties/credentials/properties/signingKey`,
    { credentials: { signingKey: 'key' } },
  ],
  [
    'spec.resourceRef.field',
    `${SCHEMA}/spec/properties/resourceRef/properties/field`,
    { resourceRef: { field: '.data' } },
  ],
] as const

const SIGNED = {
  type: 'Signed',
  status: 'True',
  reason: 'Signed',
  message: 'A newer release has signed it.',
  observedGeneration: 1,
  lastTransitionTime: '2030-01-01T00:00:00Z',
}

/** CRDs are upgraded first: this one is of the next release, while both parts are of this one. */
async function upgradeCRD(plane: ControlPlane): Promise<void> {
  const text = { type: 'string', maxLength: 64 }
  const patch = [
    ...ADDED.map(([, path]) => ({ op: 'add', path, value: text })),
    { op: 'add', path: `${SCHEMA}/status/properties/digest`, value: text },
    {
      op: 'add',
      path: `${SCHEMA}/status/properties/conditions/items/properties/type/enum/-`,
      value: 'Signed',
    },
  ]
  await plane.kubectl([
    'patch',
    'crd',
    'gitcommits.commitlet.dev',
    '--type=json',
    '-p',
    JSON.stringify(patch),
  ])
}

/** Removes admission, as if a newer webhook had admitted it, or none had been called. */
async function forgetWebhooks(plane: ControlPlane): Promise<void> {
  for (const kind of ['mutating', 'validating'])
    await plane.kubectl(['delete', `${kind}webhookconfiguration`, 'commitlet'])
}

/** Patches the spec once the API server accepts it. */
function patched(team: Team, name: string, spec: object): Promise<true> {
  const look = async (): Promise<true | undefined> => {
    const patch = JSON.stringify({ spec })
    const args = ['patch', 'gitcommit', name, '--type=merge', '-p', patch]
    return (await team.kubectl(args, { allowFailure: true })).code === 0 ? true : undefined
  }
  return waitFor(`patch of ${name}`, look, DEADLINE_MS)
}

function attempted(team: Team, name: string): Promise<Stored> {
  const look = async (): Promise<Stored | undefined> => {
    const stored = await team.get(name)
    const current = stored.status['observedGeneration'] === stored.metadata.generation
    return current && stored.status['phase'] !== 'Progressing' ? stored : undefined
  }
  return waitFor(`attempt at ${name}`, look, DEADLINE_MS)
}

/** The patch that removes what another patch has added. */
function without(spec: object): object {
  const undone = (value: unknown): unknown => (typeof value === 'object' ? without(value ?? {}) : null)
  return Object.fromEntries(Object.entries(spec).map(([key, value]) => [key, undone(value)]))
}

withControlPlane(
  t,
  async (t, plane) => {
    const commitlet = await install(t, plane, { webhookEnv: { SWEEP_FULL_INTERVAL: '1' } })
    await upgradeCRD(plane)
    const team = await commitlet.createTeam()
    const repository = await commitlet.git.createRepository(team.namespace)
    await team.apply(configMap(), gitCommit('shop', repository.url))
    const first = readyOf(await team.settled('shop'))
    t.equal(first.reason, 'Succeeded', first.message)

    t.test('a webhook of this release denies what uses a field of the next one, and names it', async (t) => {
      for (const [field, , spec] of ADDED) await denied(t, { team, field, spec })
    })

    t.test('what a newer release has written into the status stays', async (t) => {
      const { conditions } = (await team.get('shop')).status
      const status = { digest: 'of a newer release', conditions: [...elements(conditions), SIGNED] }
      const write = ['--subresource=status', '--type=merge', '-p', JSON.stringify({ status })]
      await team.kubectl(['patch', 'gitcommit', 'shop', ...write])
      await team.kubectl(['annotate', 'gitcommit', 'shop', 'commitlet.dev/requested-at=again'])
      const after = (await team.settled('shop')).status
      t.equal(readyOf({ status: after }).reason, 'UpToDate', readyOf({ status: after }).message)
      t.match(after, { digest: 'of a newer release', lastHandledRequestedAt: 'again', phase: 'Succeeded' })
      t.strictSame(
        elements(after['conditions']).find((condition) => Object(condition).type === 'Signed'),
        SIGNED,
      )
    })

    t.test(
      'what is stored with such a field waits for the next release, and nothing is committed',
      async (t) => {
        await forgetWebhooks(plane)
        for (const [field, , spec] of ADDED) {
          await patched(team, 'shop', spec)
          const { status } = await attempted(team, 'shop')
          t.match(status, {
            phase: 'Retrying',
            conditions: [{ type: 'Ready' }, { type: 'Stalled', status: 'True' }],
          })
          t.match(readyOf({ status }), { status: 'False', reason: 'NotSupported' })
          t.match(readyOf({ status }).message, field)
          const wait =
            Date.parse(String(status['nextAttemptTime'])) - Date.parse(String(status['lastAttemptTime']))
          t.ok(wait > SLOW_MS, `${field} is tried again slowly, in ${wait} ms`)
          await patched(team, 'shop', without(spec))
          const ready = readyOf(await team.settled('shop'))
          // The webhooks are off, so that nobody has stamped this generation either.
          t.equal(ready.reason, 'ReferenceForbidden', `${field} is gone: ${ready.message}`)
        }
        t.same(await repository.log(), ['Record the shop settings', 'Begin'])
      },
    )
  },
  { own: true },
)

interface Denial {
  readonly team: Team
  readonly field: string
  readonly spec: object
}

async function denied(t: Test, { team, field, spec }: Denial): Promise<void> {
  const patch = JSON.stringify({ spec })
  const args = ['patch', 'gitcommit', 'shop', '--type=merge', '-p', patch]
  const { code, stderr } = await team.kubectl(args, { allowFailure: true })
  t.equal(code, 1, field)
  t.match(stderr, field)
  t.match(stderr, 'is not supported by this release of Commitlet')
}

function elements(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
