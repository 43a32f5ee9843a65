import t from 'tap'
import { readyOf } from '../harness/conditions.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { configMap, gitCommit, install, TOKEN } from '../harness/installation.ts'
import type { Stored, Team } from '../harness/installation.ts'
import { freePort } from '../harness/wait.ts'
import { startRelay } from '../harness/relay.ts'

const PATH = 'shop/settings.yaml'
const PASSWORD = 'pw-5uPerSecret-1a2b3c'
const BY_PASSWORD = { secretName: 'git', usernameKey: 'username', passwordKey: 'password' }
const ALLOWED = 'commitlet.dev/allowed-repositories'

withControlPlane(t, async (t, plane) => {
  const relay = await startRelay()
  t.teardown(() => relay.close())
  const commitlet = await install(t, plane, {
    webhookEnv: { K_SINK: relay.url },
    users: [
      { username: 'x-access-token', password: TOKEN },
      { username: 'dev', password: PASSWORD },
    ],
  })
  const { git } = commitlet
  relay.targets.push(commitlet.function.url)

  /** Applies `shop` and returns it when it is settled. */
  async function home(
    team: Team,
    url: string,
    spec: Readonly<Record<string, unknown>> = {},
  ): Promise<Stored> {
    await team.apply(configMap(), gitCommit('shop', url, spec))
    return team.settled('shop')
  }

  /** The number of requests that the Git server got for it. */
  function requestsFor(name: string): number {
    return git.requests.filter(({ path }) => path.includes(name)).length
  }

  t.test('without a branch the commit goes to the default branch, whatever its name', async (t) => {
    const team = await commitlet.createTeam()
    const repository = await git.createRepository(team.namespace, {
      defaultBranch: 'trunk',
      branches: ['main'],
    })
    t.match((await home(team, repository.url)).status, { commit: { branch: 'trunk' } })
    t.same(await repository.log('trunk'), ['Record the shop settings', 'Begin'])
    t.same(await repository.log('main'), ['Begin'])
  })

  t.test('another branch gets the commit; a missing one begins at the default branch', async (t) => {
    const team = await commitlet.createTeam()
    const repository = await git.createRepository(team.namespace, { branches: ['other'] })
    await repository.commit('other', { 'only-here.txt': 'x\n' }, 'On the other')
    await home(team, repository.url, { branch: 'other' })
    t.same(await repository.log('other'), ['Record the shop settings', 'On the other', 'Begin'])
    const { status } = await home(team, repository.url, { branch: 'releases/new' })
    t.match(status, { phase: 'Succeeded', commit: { branch: 'releases/new' } })
    t.same(await repository.log('releases/new'), ['Record the shop settings', 'Begin'])
    t.same(await repository.log('main'), ['Begin'])
    const [tip, message] = [await repository.git('rev-parse', 'releases/new'), readyOf({ status }).message]
    t.equal(message, `Committed as ${tip.slice(0, 12)} to the branch releases/new at ${PATH}.`)
  })

  t.test('an empty repository gets its first commit, on main or on the branch that is named', async (t) => {
    const team = await commitlet.createTeam()
    const [first, second] = [
      await git.createRepository(`${team.namespace}/a`, { empty: true }),
      await git.createRepository(`${team.namespace}/b`, { empty: true }),
    ]
    t.match((await home(team, first.url)).status, { phase: 'Succeeded', commit: { branch: 'main' } })
    t.same(await first.log('main'), ['Record the shop settings'])
    t.equal(await first.git('ls-tree', '-r', '--name-only', 'main'), PATH)
    const { status } = await home(team, second.url, { branch: 'begin' })
    t.match(status, { phase: 'Succeeded', commit: { branch: 'begin' } })
    t.same(await second.log('begin'), ['Record the shop settings'])
  })

  t.test('a path that ends in .json gets JSON', async (t) => {
    const team = await commitlet.createTeam()
    const repository = await git.createRepository(team.namespace)
    const resourceRef = { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path: 'shop/settings.json' }
    await home(team, repository.url, { resourceRef })
    t.equal(
      await repository.show('main:shop/settings.json'),
      `{
  "apiVersion": "v1",
  "kind": "ConfigMap",
  "metadata": {
    "name": "shop",
    "namespace": "${team.namespace}"
  },
  "data": {
    "colour": "blue"
  }
}
`,
    )
  })

  t.test('a file keeps its mode, a new one is not executable', async (t) => {
    const team = await commitlet.createTeam()
    const files = { [PATH]: { mode: '100755', content: 'old\n' } }
    const repository = await git.createRepository(team.namespace, { files })
    await home(team, repository.url)
    t.match(await repository.git('ls-tree', 'main', PATH), /^100755 blob /)
    t.match(await repository.show(`main:${PATH}`), 'colour: blue')
    const resourceRef = { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path: 'new.yaml' }
    await home(team, repository.url, { resourceRef })
    t.match(await repository.git('ls-tree', 'main', 'new.yaml'), /^100644 blob /)
  })

  t.test('user name and password log in; a token goes with the user name of unknown hosts', async (t) => {
    const team = await commitlet.createTeam()
    await team.apply(secret('git', {}, { token: TOKEN, username: ' dev ', password: `${PASSWORD}\n` }))
    const repository = await git.createRepository(team.namespace)
    git.setRight({ username: 'x-access-token', password: TOKEN }, team.namespace, 'none')
    t.match((await home(team, repository.url, { credentials: BY_PASSWORD })).status, { phase: 'Succeeded' })
    git.setRight({ username: 'x-access-token', password: TOKEN }, team.namespace, 'write')
    git.setRight({ username: 'dev', password: PASSWORD }, team.namespace, 'none')
    const byToken = { credentials: { secretName: 'git', tokenKey: 'token' }, branch: 'token' }
    t.match((await home(team, repository.url, byToken)).status, { phase: 'Succeeded' })
  })

  t.test('a Secret goes to the repositories that its annotation covers, and nowhere else', async (t) => {
    const team = await commitlet.createTeam()
    const [own, other] = [
      await git.createRepository(`${team.namespace}/shop`),
      await git.createRepository(`${team.namespace}-evil/shop`),
    ]
    const place = `localhost:${git.port}/${team.namespace}`
    await team.apply(secret('git', { [ALLOWED]: `git.example.com, ${place}` }, { token: TOKEN }))
    t.match((await home(team, own.url)).status, { phase: 'Succeeded' })
    const { status } = await home(team, other.url)
    t.match(status, { phase: 'Failed' })
    const entry = `${place}-evil/shop`
    t.match(readyOf({ status }), {
      reason: 'ReferenceForbidden',
      message: `The Secret ${team.namespace}/git does not allow ${other.url}; add ${entry} to its annotation ${ALLOWED}.`,
    })
    t.equal(requestsFor(`${team.namespace}-evil/shop`), 0, 'nothing was sent there')
  })

  t.test('a Secret of another namespace is never read', async (t) => {
    const secrets = ['git', 'only-there']
    const [team, other] = [await commitlet.createTeam({ secrets }), await commitlet.createTeam()]
    const repository = await git.createRepository(team.namespace)
    await other.apply(secret('only-there', {}, { token: TOKEN }))
    await team.apply(configMap())
    const credentials = { secretName: 'only-there', tokenKey: 'token' }
    await team.apply(gitCommit('shop', repository.url, { credentials }))
    await team.waitFor('shop', 'jsonpath={.status.phase}=Retrying', '60s')
    t.match(readyOf(await team.get('shop')), {
      reason: 'ReferenceNotFound',
      message: `There is no Secret ${team.namespace}/only-there; create it, or fix its name in the spec.`,
    })
    for (const secretName of [`../${other.namespace}/only-there`, `${other.namespace}/only-there`, '..']) {
      const spec = { credentials: { secretName, tokenKey: 'token' } }
      await t.rejects(team.apply(gitCommit('sly', repository.url, spec)), {
        message: 'spec.credentials.secretName',
      })
    }
    t.equal(requestsFor(team.namespace), 0, 'nothing was sent')
  })

  t.test('without CA_FILE, the certificate of a private authority is not trusted', async (t) => {
    const team = await commitlet.createTeam()
    const repository = await git.createRepository(team.namespace)
    const port = String(await freePort())
    const untrusting = await commitlet.startFunction({ CA_FILE: '', PORT: port })
    const targets = relay.targets.splice(0, 1, untrusting.url)
    await team.apply(configMap(), gitCommit('shop', repository.url))
    await team.waitFor('shop', 'condition=Stalled', '60s')
    relay.targets.splice(0, 1, ...targets)
    const { status } = await team.get('shop')
    t.match(status, { phase: 'Retrying' })
    t.match(readyOf({ status }), {
      reason: 'TLSUntrusted',
      message:
        / shows a certificate that no trusted authority has signed; the operator adds its authority to CA_FILE, /,
    })
    t.equal(requestsFor(team.namespace), 0, 'no credential was sent')
  })
})

function secret(name: string, annotations: object, stringData: object): object {
  return { apiVersion: 'v1', kind: 'Secret', metadata: { name, annotations }, stringData }
}
