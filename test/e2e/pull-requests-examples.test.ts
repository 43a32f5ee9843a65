import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { hostNamed } from '../../functions/domain/hosts.ts'
import { isRecord, member } from '../../functions/domain/member.ts'
import { columns } from '../harness/columns.ts'
import { conditionsOf } from '../harness/conditions.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { TOKEN } from '../harness/installation.ts'
import type { Team } from '../harness/installation.ts'
import { dialectOf } from '../providers/contract-rows.ts'
import { hostRepository, settledPull, waitForPull } from './pull-request-stage.ts'
import type { HostedRepository } from './pull-request-stage.ts'
import { installAmongPublicHosts } from './public-hosts.ts'

const ROOT = join(import.meta.dirname, '../..')
const FOLDER = join(ROOT, 'examples/pull-requests')
const SECRET = 'git-credentials'
const HEAD = 'shop-settings'
const REVIEWER = '{01234567-89ab-cdef-0123-456789abcdef}'

/** Of a host, as its users write it. */
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

/** The text of a file, with the namespace as the owner of the repository and a token that is taken. */
function filled(file: string, namespace: string): string {
  return readFileSync(join(FOLDER, file), 'utf8')
    .replaceAll('/acme/', `/${namespace}/`)
    .replaceAll(':acme/', `:${namespace}/`)
    .replace('replace-with-your-token', TOKEN)
}

function objectsIn(text: string): readonly Readonly<Record<string, unknown>>[] {
  return parseAllDocuments(text)
    .map((document): unknown => document.toJS())
    .filter(isRecord)
}

/** The commands of docs/pull-requests.md for a first one, and what it shows for the last of them. */
function firstOnThePage(): { readonly commands: readonly string[]; readonly printed: string } {
  const page = readFileSync(join(ROOT, 'docs/pull-requests.md'), 'utf8')
  const [, commands = '', printed = ''] = /^```sh\n([^]*?)^```\n\n```\n([^]*?)^```$/m.exec(page) ?? []
  return { commands: commands.trim().split('\n'), printed }
}

withControlPlane(
  t,
  async (t, plane) => {
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

    t.test('each file of the folder is tried', async (t) => {
      const tried = [FIRST, ...EXAMPLES.map(({ file }) => file)]
      t.strictSame(readdirSync(FOLDER).toSorted(), tried.toSorted())
    })

    t.test('the commands for a first one do what the page shows', async (t) => {
      const team = await commitlet.createTeam({ secrets: [SECRET] })
      const hosted = await host(team, GITHUB)
      const folder = t.testdir({ token: `${TOKEN}\n`, [FIRST]: filled(FIRST, team.namespace) })
      const { commands, printed } = firstOnThePage()
      const outputs: string[] = []
      for (const command of commands) {
        const words = command.replace('kubectl -n shop ', '').split(' ')
        const args = words.map((word) =>
          word
            .replace(/^--from-file=token$/, `--from-file=${folder}/token`)
            .replace(FIRST, `${folder}/${FIRST}`),
        )
        outputs.push((await team.kubectl(args)).stdout)
      }
      t.match(await hosted.repository.show(`${HEAD}:shop/settings.yaml`), 'currency: EUR')
      t.match(hosted.model.pulls, [{ base: 'main', head: HEAD, title: 'Ship for free from 40 EUR on' }])
      const row = JSON.stringify({ ...columns(outputs.at(-1) ?? ''), AGE: '' })
      const shown: unknown = JSON.parse(row.replaceAll(team.namespace, 'acme'))
      t.strictSame(shown, { ...columns(printed), AGE: '' })
    })

    for (const { file, ...place } of EXAMPLES) {
      t.test(`${file} is accepted as it stands, and opens its pull request`, async (t) => {
        const team = await commitlet.createTeam({ secrets: [SECRET] })
        const hosted = await host(team, place)
        await hosted.repository.commit(HEAD, { 'shop/settings.yaml': 'currency: EUR\n' })
        // Git over SSH is no matter of the API.
        const objects = objectsIn(filled(file, team.namespace)).filter(({ kind }) => kind !== 'GitCommit')
        await team.apply(...objects)
        await waitForPull(team, 'shop-settings', 'condition=Ready')
        const stored = await settledPull(team, 'shop-settings')
        t.match(stored.status, { phase: 'Succeeded', pullRequest: { number: 1, state: 'open' } })
        if (objects.some(({ spec }) => member(spec, 'reviewers') !== undefined))
          t.match(conditionsOf(stored), [{}, { type: 'DetailsApplied', status: 'True' }])
        t.strictSame(hosted.api.violations, [])
      })
    }
  },
  { own: true },
)
