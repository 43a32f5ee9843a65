import t from 'tap'
import { configurationName } from '../harness/commitlet.ts'
import { readyOf } from '../harness/conditions.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { gitCommit, install } from '../harness/installation.ts'
import type { Stored, Team } from '../harness/installation.ts'
import { applyAs, grant, kubectlApplyAs, RULES } from '../harness/rights.ts'
import { waitFor } from '../harness/wait.ts'
import { stageTenant, TENANT } from './tenant-stage.ts'

const STAMP = ['requested-by', 'requester', 'requester-signature'].map((name) => `commitlet.dev/${name}`)
const MERGE = { 'content-type': 'application/merge-patch+json' }
const NOT_PROVED = /does not prove who asked for it/

/** The stamp's annotations; an unsigned or unstamped resource has fewer. */
function stampOf({ metadata }: Pick<Stored, 'metadata'>): Readonly<Record<string, string>> {
  const annotations = Object.entries(metadata.annotations ?? {})
  return Object.fromEntries(annotations.filter(([key]) => STAMP.includes(key)))
}

function withAnnotations(
  object: object,
  annotations: Readonly<Record<string, string>>,
  name = 'shop',
): object {
  return { ...object, metadata: { name, annotations } }
}

function pathOf({ namespace }: Team): string {
  return `/apis/commitlet.dev/v1/namespaces/${namespace}/gitcommits`
}

withControlPlane(t, async (t, plane) => {
  const commitlet = await install(t, plane)

  t.test(
    "a tenant's edit of what an admin applied is the tenant's, with only the tenant's rights",
    async (t) => {
      const { team, repository } = await stageTenant(commitlet)
      await team.apply(gitCommit('shop', repository.url))
      t.match(stampOf(await team.settled('shop')), { 'commitlet.dev/requested-by': 'admin' })
      await team.apply(...grant('less', 'other', [RULES.gitCommits]))
      const editAs = (user: string) => {
        const headers = { ...MERGE, 'impersonate-user': user }
        return plane.api.ask('PATCH', `${pathOf(team)}/shop`, { spec: { message: 'Mine' } }, headers)
      }
      const denial = async () => {
        const { body } = await editAs('other')
        const { message = '' } = body as { readonly message?: string }
        return message.includes('denied the request') ? message : undefined
      }
      t.match(await waitFor('denial', denial, 30_000), 'which other may not `get`')
      t.match(await editAs(TENANT), { status: 200 })
      t.match(stampOf(await team.settled('shop')), { 'commitlet.dev/requested-by': TENANT })
      t.match(await repository.git('log', '-1', '--format=%B', 'main'), /^Requested-by: admin$/m)
    },
  )

  t.test('a label from a user with more rights does not change the requester', async (t) => {
    const { team, repository } = await stageTenant(commitlet)
    await applyAs(team, TENANT, gitCommit('shop', repository.url))
    const before = stampOf(await team.settled('shop'))
    t.match(before, { 'commitlet.dev/requested-by': TENANT })
    await plane.api.need('PATCH', `${pathOf(team)}/shop`, { metadata: { labels: { a: 'b' } } }, MERGE)
    const stored = await team.get('shop')
    t.match(stored.metadata, { labels: { a: 'b' } })
    t.same(stampOf(stored), before)
    const stripped = { ...stored, metadata: { ...stored.metadata, annotations: {} } }
    await plane.api.need('PUT', `${pathOf(team)}/shop`, stripped)
    t.same(stampOf(await team.get('shop')), before, 'replaced without it, it is put back')
  })

  t.test(
    'server-side apply by two managers: the one that changed the spec last is the requester',
    async (t) => {
      const { team, repository } = await stageTenant(commitlet)
      const spec = { message: 'One' }
      const flags = (manager: string): readonly string[] => [
        '--server-side',
        `--field-manager=${manager}`,
        '--force-conflicts',
      ]
      await kubectlApplyAs(team, TENANT, gitCommit('shop', repository.url, spec), ...flags('one'))
      const first = stampOf(await team.settled('shop'))
      t.match(first, { 'commitlet.dev/requested-by': TENANT })
      const forged = withAnnotations(gitCommit('shop', repository.url, spec), {
        'commitlet.dev/requested-by': 'system:admin',
        'commitlet.dev/requester': '{"username":"system:admin","groups":["system:masters"]}',
      })
      await kubectlApplyAs(team, 'admin', forged, '--as-group=system:masters', ...flags('two'))
      t.same(stampOf(await team.get('shop')), first, 'the same spec asks for nothing')
      await kubectlApplyAs(
        team,
        'admin',
        gitCommit('shop', repository.url, { message: 'Two' }),
        '--as-group=system:masters',
        ...flags('two'),
      )
      t.match(stampOf(await team.settled('shop')), { 'commitlet.dev/requested-by': 'admin' })
      await kubectlApplyAs(team, TENANT, gitCommit('shop', repository.url, spec), ...flags('one'))
      const last = await team.settled('shop')
      t.match(stampOf(last), { 'commitlet.dev/requested-by': TENANT })
      t.match(readyOf(last), { status: 'True' })
    },
  )

  t.test('generateName: stamped and signed before there is a name', async (t) => {
    const { team, repository } = await stageTenant(commitlet)
    const object = { ...gitCommit('none', repository.url), metadata: { generateName: 'shop-' } }
    const created = await plane.api.need('POST', pathOf(team), object, { 'impersonate-user': TENANT })
    const { name } = (created as Stored).metadata
    t.match(name, /^shop-.+/)
    const stored = await team.settled(name)
    t.match(stampOf(stored), { 'commitlet.dev/requester-signature': /^[0-9a-f]{64}$/ })
    t.match(readyOf(stored), { reason: 'Succeeded' })
  })

  t.test('a stamp written while the webhook was off does not verify, copied or invented', async (t) => {
    const { team, repository } = await stageTenant(commitlet)
    const { team: other } = await stageTenant(commitlet)
    await team.apply(gitCommit('shop', repository.url))
    const stamp = stampOf(await team.settled('shop'))
    await plane.kubectl([
      'delete',
      'mutatingwebhookconfiguration,validatingwebhookconfiguration',
      configurationName(plane),
    ])
    const invented = {
      'commitlet.dev/requested-by': 'admin',
      'commitlet.dev/requester': '{"username":"admin","groups":["system:masters"]}',
      'commitlet.dev/requester-signature': 'a'.repeat(64),
    }
    const same = gitCommit('shop', repository.url)
    const attempts = [
      ['no stamp', team, withAnnotations(same, {}, 'none'), /does not say who asked/],
      ['an invented one', team, withAnnotations(same, invented, 'invented'), NOT_PROVED],
      [
        'a copy with another spec',
        team,
        withAnnotations(gitCommit('x', repository.url, { branch: 'other' }), stamp, 'branch'),
        NOT_PROVED,
      ],
      [
        'a copy with another request',
        team,
        withAnnotations(same, { ...stamp, 'commitlet.dev/requested-at': 'now' }, 'request'),
        NOT_PROVED,
      ],
      [
        'a copy with other groups',
        team,
        withAnnotations(
          same,
          {
            ...stamp,
            'commitlet.dev/requester': String(stamp['commitlet.dev/requester']).replace('system:', 'x:'),
          },
          'groups',
        ),
        NOT_PROVED,
      ],
      ['a copy in another namespace', other, withAnnotations(same, stamp, 'copy'), NOT_PROVED],
    ] as const
    const tips = await repository.git('rev-list', '--count', '--all')
    // No event announces them: the sweep of a restarted webhook finds them.
    await commitlet.webhook.stop()
    for (const [title, where, object] of attempts)
      t.equal((await applyAs(where, TENANT, object)).code, 0, title)
    await commitlet.startWebhook({ SWEEP_INTERVAL: '1' })
    for (const [title, where, object, message] of attempts) {
      const stored = await where.settled((object as Stored).metadata.name)
      t.match(readyOf(stored), { reason: 'ReferenceForbidden', message }, title)
      t.match(readyOf(stored).message, 'kubectl annotate ', title)
    }
    t.equal(await repository.git('rev-list', '--count', '--all'), tips, 'nothing was committed')
    await applyAs(team, TENANT, withAnnotations(same, stamp, 'same'))
    t.match(
      readyOf(await team.settled('same')),
      { reason: 'UpToDate' },
      'what the tenant asked for, and no more',
    )
  })
})
