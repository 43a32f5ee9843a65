import { readFile } from 'node:fs/promises'
import { Agent, request } from 'node:https'
import t from 'tap'
import { SYSTEM } from '../harness/accounts.ts'
import { installObjects } from '../harness/commitlet.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import type { ControlPlane } from '../harness/control-plane.ts'
import { reviewed } from '../harness/rights.ts'
import { sample } from '../harness/sample.ts'
import { elements, member } from '../../functions/domain/json-value.ts'

/** What every authenticated user may ask about themselves (the bootstrap role system:basic-user). */
const ONESELF = [
  'create authentication.k8s.io/selfsubjectreviews',
  'create authorization.k8s.io/selfsubjectaccessreviews',
  'create authorization.k8s.io/selfsubjectrulesreviews',
]
const BOTH_KINDS = ['commitlet.dev/gitcommits', 'commitlet.dev/pullrequests']
const DEFAULTS = { verb: 'use', group: 'commitlet.dev', resource: 'defaultcredentials' }
const REVIEW = 'create authorization.k8s.io/subjectaccessreviews'
const RBAC = { group: 'rbac.authorization.k8s.io', resource: 'clusterroles' }
const WITHOUT_RESOURCE = [
  { verb: 'impersonate', group: '', resource: 'users' },
  { verb: 'bind', ...RBAC },
  { verb: 'escalate', ...RBAC },
  { verb: 'use', group: '', resource: 'secrets' },
  { verb: 'get', path: '/metrics' },
]

/** Everything that each of them may do, and nothing else. */
const MAY: Readonly<Record<string, readonly string[]>> = {
  [`system:serviceaccount:${SYSTEM}:commitlet-function`]: [
    ...BOTH_KINDS.flatMap((kind) => [`get ${kind}`, `patch ${kind}/status`]),
    'create events.k8s.io/events',
    'get configmaps',
    REVIEW,
  ],
  [`system:serviceaccount:${SYSTEM}:commitlet-webhook`]: [
    ...BOTH_KINDS.flatMap((kind) => [`get ${kind}`, `list ${kind}`, `watch ${kind}`]),
    REVIEW,
  ],
  'an-editor': BOTH_KINDS.flatMap((kind) =>
    ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'].map(
      (verb) => `${verb} ${kind}`,
    ),
  ),
  'a-user-of-the-defaults': [],
  'a-viewer': BOTH_KINDS.flatMap((kind) => ['get', 'list', 'watch'].map((verb) => `${verb} ${kind}`)),
}

/** The HTTP request of a verb, as a dry run where it would change anything. */
const VERBS: Readonly<
  Record<string, { readonly method: string; readonly named: boolean; readonly query: string }>
> = {
  get: { method: 'GET', named: true, query: '' },
  list: { method: 'GET', named: false, query: '?limit=1' },
  watch: { method: 'GET', named: false, query: '?watch=true&timeoutSeconds=1' },
  create: { method: 'POST', named: false, query: '?dryRun=All' },
  update: { method: 'PUT', named: true, query: '?dryRun=All' },
  patch: { method: 'PATCH', named: true, query: '?dryRun=All' },
  delete: { method: 'DELETE', named: true, query: '?dryRun=All' },
  deletecollection: { method: 'DELETE', named: false, query: '?dryRun=All' },
}

interface Served {
  /** `group/resource[/subresource]`; the core group has no name. */
  readonly title: string
  readonly base: string
  readonly name: string
  readonly namespaced: boolean
}

/** Calls the API server as another user; returns the status. */
async function impersonator(plane: ControlPlane) {
  const config = JSON.parse(await readFile(plane.kubeconfig, 'utf8')) as {
    users: { user: Record<string, string> }[]
  }
  const user = config.users[0]?.user ?? {}
  const decode = (key: string): Buffer => Buffer.from(user[key] ?? '', 'base64')
  const agent = new Agent({
    keepAlive: true,
    maxSockets: 8,
    ca: plane.caPEM,
    cert: decode('client-certificate-data'),
    key: decode('client-key-data'),
  })
  t.teardown(() => agent.destroy())
  return function ask(as: string, method: string, path: string): Promise<number> {
    const headers = { 'impersonate-user': as, 'content-type': 'application/merge-patch+json' }
    return new Promise((resolve, reject) => {
      const asked = request(`${plane.url}${path}`, { agent, method, headers }, (response) => {
        response.resume()
        response.once('end', () => resolve(response.statusCode ?? 0))
      })
      asked.once('error', reject)
      asked.end(method === 'GET' || method === 'DELETE' ? undefined : '{}')
    })
  }
}

/** Every resource and subresource that the API server serves. */
async function servedBy(plane: ControlPlane): Promise<readonly Served[]> {
  const raw = (path: string): Promise<unknown> => plane.api.need('GET', path)
  const groups = elements(member(await raw('/apis'), 'groups')).map((group) =>
    String(member(member(group, 'preferredVersion'), 'groupVersion')),
  )
  const bases = ['/api/v1', ...groups.map((group) => `/apis/${group}`)]
  const lists = await Promise.all(
    bases.map(async (base) => {
      const group = base.startsWith('/apis/') ? `${base.split('/')[2]}/` : ''
      return elements(member(await raw(base), 'resources')).map((resource) => ({
        title: group + String(member(resource, 'name')),
        base,
        name: String(member(resource, 'name')),
        namespaced: member(resource, 'namespaced') === true,
      }))
    }),
  )
  return lists.flat()
}

/** `plural/sub` of an object that need not exist: a missing right is reported first. */
function pathOf({ base, name, namespaced }: Served, namespace: string, named: boolean): string {
  const [plural, sub] = name.split('/')
  const place = namespaced ? `${base}/namespaces/${namespace}/${plural}` : `${base}/${plural}`
  if (sub !== undefined) return `${place}/nothing/${sub}`
  return named ? `${place}/nothing` : place
}

withControlPlane(
  t,
  async (t, plane) => {
    await installObjects(plane)
    const namespace = await plane.createNamespace()
    for (const [role, user] of [
      ['commitlet-editor', 'an-editor'],
      ['commitlet-viewer', 'a-viewer'],
      ['commitlet-default-credentials-user', 'a-user-of-the-defaults'],
    ] as const) {
      await plane.kubectl([
        '-n',
        namespace,
        'create',
        'rolebinding',
        role,
        `--clusterrole=${role}`,
        `--user=${user}`,
      ])
    }
    const [ask, served] = [await impersonator(plane), await servedBy(plane)]
    t.ok(served.length > 100, `${served.length} resources and subresources`)

    const users = sample(Object.entries(MAY), ([user]) =>
      user.startsWith('system:') ? user : 'a role for people',
    )
    for (const [user, allowed] of users) {
      t.test(`${user} may do what it needs, and nothing else`, async (t) => {
        const found: string[] = []
        for (const resource of served) {
          const verbs = Object.entries(VERBS).filter(([, { named }]) => named || !resource.name.includes('/'))
          // Creation of a subresource is requested by its name as well.
          if (resource.name.includes('/'))
            verbs.push(['create', { method: 'POST', named: true, query: '?dryRun=All' }])
          const answers = await Promise.all(
            verbs.map(async ([verb, { method, named, query }]) => {
              const status = await ask(user, method, pathOf(resource, namespace, named) + query)
              return { verb, status }
            }),
          )
          for (const { verb, status } of answers) if (status !== 403) found.push(`${verb} ${resource.title}`)
        }
        t.same(found.sort(), [...allowed, ...ONESELF].sort())
      })
    }

    t.test('in its own namespace the webhook keeps the Lease of its sweeps, and no other', async (t) => {
      const webhook = `system:serviceaccount:${SYSTEM}:commitlet-webhook`
      const lease = { group: 'coordination.k8s.io', resource: 'leases', namespace: SYSTEM }
      for (const [verb, name, may] of [
        ['create', '', true],
        ['get', 'commitlet-sweeps', true],
        ['update', 'commitlet-sweeps', true],
        ['delete', 'commitlet-sweeps', false],
        ['patch', 'commitlet-sweeps', false],
        ['get', 'another', false],
        ['update', 'another', false],
        ['list', '', false],
      ] as const)
        t.equal(await reviewed(plane, webhook, { ...lease, verb, name }), may, `${verb} ${name}`)
    })

    t.test('outside of their namespaces, an editor and a viewer may do nothing', async (t) => {
      const other = await plane.createNamespace()
      for (const kind of ['gitcommits', 'pullrequests']) {
        for (const user of ['an-editor', 'a-viewer']) {
          for (const place of [`namespaces/${other}/`, '']) {
            t.equal(
              await ask(user, 'GET', `/apis/commitlet.dev/v1/${place}${kind}`),
              403,
              `${user} ${place}${kind}`,
            )
          }
        }
      }
    })

    t.test(
      'of the rights without a resource in the API, only the one to the default credentials is granted',
      async (t) => {
        for (const user of Object.keys(MAY)) {
          for (const question of WITHOUT_RESOURCE) {
            const asked = 'path' in question ? question : { ...question, namespace }
            t.notOk(await reviewed(plane, user, asked), `${user} ${JSON.stringify(question)}`)
          }
          const may = await reviewed(plane, user, { ...DEFAULTS, namespace })
          t.equal(may, user === 'a-user-of-the-defaults', user)
        }
      },
    )
  },
  { own: true },
)
