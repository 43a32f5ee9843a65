import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { hostNamed } from '../../functions/domain/repository/hosts.ts'
import { isRecord, member, textMember } from '../../functions/domain/json-value.ts'
import { columns } from '../harness/columns.ts'
import { conditionsOf } from '../harness/conditions.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import type { Ran } from '../harness/control-plane.ts'
import { TOKEN } from '../harness/installation.ts'
import type { Team } from '../harness/installation.ts'
import { until } from '../harness/rights.ts'
import { dialectOf } from '../providers/contract/rows.ts'
import { hostRepository, settledPull, waitForPull } from './pull-request-stage.ts'
import type { HostedRepository } from './pull-request-stage.ts'
import { installAmongPublicHosts } from './public-hosts.ts'

const ROOT = join(import.meta.dirname, '../..')
const FOLDER = join(ROOT, 'examples/pull-requests')
const SECRET = 'git-credentials'
const HEAD = 'shop-delivery'
const REVIEWER = '{01234567-89ab-cdef-0123-456789abcdef}'

/** What the users of a host write. */
interface Place {
  readonly name: string
  readonly origin: string
  readonly apiPath: string
  readonly prefix?: string
}

const FIRST = 'commit-and-pull-request.yaml'
const GITHUB = { name: 'github', origin: 'https://github.com', apiPath: '' } as const
/** The other files of examples/pull-requests, and what answers there; `acme` of the path becomes the namespace. */
const EXAMPLES: readonly (Place & { readonly file: string })[] = [
  { file: 'github.yaml', ...GITHUB },
  { file: 'ssh-address.yaml', ...GITHUB },
  { file: 'github-enterprise.yaml', name: 'github', origin: 'https://git.example.com', apiPath: '/api/v3' },
  { file: 'gitlab.yaml', name: 'gitlab', origin: 'https://gitlab.com', apiPath: '/api/v4' },
  {
    file: 'gitlab-self-managed.yaml',
    name: 'gitlab',
    origin: 'https://git.example.com',
    apiPath: '/gitlab/api/v4',
    prefix: '/gitlab',
  },
  { file: 'bitbucket.yaml', name: 'bitbucket', origin: 'https://bitbucket.org', apiPath: '/2.0' },
  { file: 'gitea.yaml', name: 'gitea', origin: 'https://git.example.com', apiPath: '/api/v1' },
]

/** The text of a file, with the namespace as the owner of the repository and a valid token. */
function filled(file: string, namespace: string): string {
  return readFileSync(join(FOLDER, file), 'utf8')
    .replaceAll(/(?<=[/:])acme\b/g, namespace)
    .replace('replace-with-your-token', TOKEN)
}

function objectsIn(text: string): readonly Readonly<Record<string, unknown>>[] {
  return parseAllDocuments(text)
    .map((document): unknown => document.toJS())
    .filter(isRecord)
}

/** Secret and PullRequest: Git over SSH does not involve the API. */
function apart(text: string): ReturnType<typeof objectsIn> {
  return objectsIn(text).filter(({ kind }) => kind !== 'GitCommit')
}

function nameOf({ metadata }: Readonly<Record<string, unknown>>): string {
  return textMember(metadata, 'name') ?? ''
}

/** Of docs/pull-requests.md for a first one: who makes the Secret, a developer, and what the last command prints. */
function firstOnThePage(): Record<'secret' | 'developer', readonly string[]> & { readonly printed: string } {
  const page = readFileSync(join(ROOT, 'docs/pull-requests.md'), 'utf8')
  const blocks = [...page.matchAll(/^```\w*\n([^]*?)^```$/gm)].map(([, block = '']) => block)
  const [, secret = '', developer = '', printed = ''] = blocks
  return { secret: secret.trim().split('\n'), developer: developer.trim().split('\n'), printed }
}

/** Gives the group "developers" in the namespace the rights of a developer who may not read the Secret. */
async function employ(team: Team): Promise<void> {
  await team.kubectl(['apply', '-f', join(ROOT, 'examples/0-rights.yaml')])
  const verbs = ['get', 'create', 'patch'].map((verb) => `--verb=${verb}`)
  await team.kubectl(['create', 'role', 'edit', ...verbs, '--resource=configmaps'])
  await team.kubectl(['create', 'rolebinding', 'edit', '--role=edit', '--group=developers'])
}

const AS_DEVELOPER = ['--as=dev', '--as-group=developers'] as const

withControlPlane(t, async (t, plane) => {
  const { server, commitlet } = await installAmongPublicHosts(t, plane, 'git.example.com')

  async function host(team: Team, { name, origin, apiPath, ...site }: Place): Promise<HostedRepository> {
    const dialect = await dialectOf(name)
    if (dialect === undefined) throw new Error(`There is no stand-in for ${name}.`)
    const groups = hostNamed(name)?.repositoryPath === 'two' ? '' : '/web'
    const path = `${team.namespace}${groups}/config`
    const place = { ...site, dialect, path, publicly: { origin, apiPath } }
    const hosted = await hostRepository(server, place, { people: ['dev', 'ops', REVIEWER] })
    hosted.model.labels.add('shop')
    return hosted
  }

  t.test('each file of the folder has a test', async (t) => {
    const tried = [FIRST, ...EXAMPLES.map(({ file }) => file)]
    t.strictSame(readdirSync(FOLDER).toSorted(), tried.toSorted())
  })

  t.test('the commands for a first one do what the page shows', async (t) => {
    const team = await commitlet.createTeam({ secrets: [SECRET] })
    const hosted = await host(team, GITHUB)
    const folder = t.testdir({ token: `${TOKEN}\n`, [FIRST]: filled(FIRST, team.namespace) })
    const { secret, developer, printed } = firstOnThePage()
    function run(command: string, ...flags: readonly string[]): Promise<Ran> {
      const words = command.replace('kubectl -n shop ', '').split(' ')
      const args = words.map((word) =>
        word
          .replace(/^--from-file=token$/, `--from-file=${folder}/token`)
          .replace(/\/acme$/, `/${team.namespace}`)
          .replace(FIRST, `${folder}/${FIRST}`),
      )
      return team.kubectl([...args, ...flags], { allowFailure: true })
    }
    await employ(team)
    for (const command of secret) t.equal((await run(command)).code, 0, command)
    t.match(await run('kubectl -n shop get secret git-credentials', ...AS_DEVELOPER), { code: 1 })
    const [apply = '', ...then] = developer
    await until('rights', () => run(apply, ...AS_DEVELOPER), /pullrequest\.commitlet\.dev/)
    const outputs: string[] = []
    for (const command of then) outputs.push((await run(command, ...AS_DEVELOPER)).stdout)
    t.match(await hosted.repository.show(`${HEAD}:shop/delivery.yaml`), 'currency: EUR')
    t.match(hosted.model.pulls, [{ base: 'main', head: HEAD, title: 'Ship for free from 40 EUR on' }])
    const row = JSON.stringify({ ...columns(outputs.at(-1) ?? ''), AGE: '' })
    const shown: unknown = JSON.parse(row.replaceAll(team.namespace, 'acme'))
    t.strictSame(shown, { ...columns(printed), AGE: '' })
  })

  t.test(
    'once it is merged, `kubectl create` with generateName makes the next one, and the next',
    async (t) => {
      const team = await commitlet.createTeam({ secrets: [SECRET] })
      const hosted = await host(team, GITHUB)
      await hosted.repository.commit(HEAD, { 'shop/delivery.yaml': 'currency: EUR\n' })
      await team.kubectl(['create', 'secret', 'generic', SECRET, `--from-literal=token=${TOKEN}`])
      const pull = objectsIn(filled(FIRST, team.namespace)).find(({ kind }) => kind === 'PullRequest')
      const input = JSON.stringify({ ...pull, metadata: { generateName: 'shop-delivery-' } })
      for (const number of [1, 2]) {
        const { stdout } = await team.kubectl(['create', '-f', '-', '-o', 'name'], { input })
        const [, name = ''] = stdout.trim().split('/')
        t.match(name, /^shop-delivery-[a-z0-9]{5}$/)
        const { status } = await settledPull(team, name)
        t.match(status, { phase: 'Succeeded', pullRequest: { number, state: 'open' } })
        for (const shown of hosted.model.pulls) shown.state = 'merged'
      }
    },
  )

  t.test(
    'a follower fills its pull request, and begins again from the base once that is merged',
    async (t) => {
      const team = await commitlet.createTeam({ secrets: [SECRET] })
      const hosted = await host(team, GITHUB)
      const { repository } = hosted
      await team.kubectl(['create', 'secret', 'generic', SECRET, `--from-literal=token=${TOKEN}`])
      const text = readFileSync(join(ROOT, 'examples/following/with-pull-request.yaml'), 'utf8')
      const objects = objectsIn(text.replaceAll(/(?<=[/:])acme\b/g, team.namespace))
      await team.apply(...objects)
      const name = 'shop-prices'
      /** The event of an ApiServerSource that names the follower. */
      async function change(currency: string, commits: number): Promise<void> {
        const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { currency } }
        await team.apply(map)
        const headers = {
          'ce-specversion': '1.0',
          'ce-id': currency,
          'ce-source': '/test',
          'ce-type': 'dev.knative.apiserver.ref.update',
          'content-type': 'application/json',
        }
        const { namespace } = team
        const body = JSON.stringify({ apiVersion: 'commitlet.dev/v1', kind: 'GitCommit', namespace, name })
        await fetch(commitlet.function.url, { method: 'POST', headers, body })
        await team.waitFor(name, `jsonpath={.status.sync.commits}=${commits}`, '60s')
      }

      await waitForPull(team, name, 'condition=Ready')
      t.match((await settledPull(team, name)).status, { pullRequest: { number: 1, state: 'open' } })
      await change('USD', 2)
      t.equal(Number(await repository.git('rev-list', '--count', `main..${name}`)), 2)
      await repository.git('update-ref', 'refs/heads/main', name)
      await repository.git('update-ref', '-d', `refs/heads/${name}`)
      for (const shown of hosted.model.pulls) shown.state = 'merged'
      await change('CHF', 3)
      t.equal(Number(await repository.git('rev-list', '--count', `main..${name}`)), 1)
      t.match(await repository.show(`${name}:shop/prices.yaml`), 'currency: CHF')
      const pull = objects.find(({ kind }) => kind === 'PullRequest')
      const input = JSON.stringify({ ...pull, metadata: { generateName: 'shop-prices-' } })
      const { stdout } = await team.kubectl(['create', '-f', '-', '-o', 'name'], { input })
      const { status } = await settledPull(team, stdout.trim().split('/')[1] ?? '')
      t.match(status, { phase: 'Succeeded', pullRequest: { number: 2, state: 'open' } })
    },
  )

  for (const { file, ...place } of EXAMPLES) {
    t.test(`${file} is accepted as it stands, and opens its pull request`, async (t) => {
      const [secret = '', name = ''] = apart(readFileSync(join(FOLDER, file), 'utf8')).map(nameOf)
      const team = await commitlet.createTeam({ secrets: [secret] })
      const hosted = await host(team, place)
      await hosted.repository.commit(HEAD, { 'shop/delivery.yaml': 'currency: EUR\n' })
      const objects = apart(filled(file, team.namespace))
      const input = objects.map((object) => JSON.stringify(object)).join('\n')
      await team.kubectl(['apply', '--server-side', '-f', '-'], { input })
      await waitForPull(team, name, 'condition=Ready')
      const stored = await settledPull(team, name)
      t.match(stored.status, { phase: 'Succeeded', pullRequest: { number: 1, state: 'open' } })
      if (objects.some(({ spec }) => member(spec, 'reviewers') !== undefined))
        t.match(conditionsOf(stored), [{}, { type: 'DetailsApplied', status: 'True' }])
      t.strictSame(hosted.api.violations, [])
    })
  }
})
