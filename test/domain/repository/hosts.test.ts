import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { hostNamed, HOSTS } from '../../../functions/domain/repository/hosts.ts'

t.test('every row can be named, and no two rows share a name or a host', async (t) => {
  for (const row of HOSTS) t.equal(hostNamed(row.name), row)
  const hosts = HOSTS.flatMap((row) => [row.webHost ?? [], row.gitHosts].flat())
  t.equal(new Set(hosts).size, hosts.length)
  t.equal(new Set(HOSTS.map(({ name }) => name)).size, HOSTS.length)
})

t.test('a row says how a repository, a fork and people are named on its host', async (t) => {
  const rows = HOSTS.map(({ name, repositoryPath, forks, person }) => [
    name,
    repositoryPath,
    forks,
    person?.expects,
  ])
  t.strictSame(rows, [
    ['github', 'two', true, undefined],
    ['gitlab', 'two or more', false, undefined],
    ['bitbucket', 'two', false, 'a UUID in braces or an account ID of Atlassian'],
    ['gitea', 'two', false, undefined],
  ])
})

const ROOT = join(import.meta.dirname, '../../..')
/** The table itself, the folders of the hosts, and the map that loads them, whose literals the bundler has to see. */
const MAY_NAME_HOSTS =
  /^functions\/(?:providers\/|domain\/repository\/hosts\.ts$|pull-request\/provider-apis\.ts$)/

/** Strings that occur only in code for a certain host. */
const WORDS_OF_HOSTS = HOSTS.flatMap(({ name, webHost, gitHosts, tenantDomain, ...row }) =>
  [name, webHost, gitHosts, tenantDomain, row.tokenUsername, row.emailUsername, row.nobodyUsername].flat(),
)

/** Where a source has such a string, or compares the name of a host, comments aside. */
function hostsNamedIn(text: string): readonly string[] {
  const code = text.replaceAll(/\/\*[^]*?\*\/|^\s*\/\/.*$/gm, '')
  const literals = [...code.matchAll(/'([^'\n]*)'|"([^"\n]*)"|`([^`]*)`/g)].map((match) =>
    match.slice(1).join(''),
  )
  const compared = code.match(/\b(?:host|row|known|publicHost\([^)]*\))\??\.name\s*[!=]==\s*['"`]/g) ?? []
  return [...literals.filter((literal) => WORDS_OF_HOSTS.includes(literal)), ...compared]
}

t.test('what is special about a host is in its row: no other source names one', async (t) => {
  const sources = globSync(['functions/**/*.ts', 'webhook/**/*.ts'], { cwd: ROOT }).sort()
  t.ok(sources.length > 150, 'the sources are found')
  for (const file of sources.filter((name) => !MAY_NAME_HOSTS.test(name)))
    t.strictSame(hostsNamedIn(readFileSync(join(ROOT, file), 'utf8')), [], file)
})

t.test('a source that names a host is found', async (t) => {
  t.strictSame(hostsNamedIn("if (host?.name === 'bitbucket') return 1"), ['bitbucket', "host?.name === '"])
  t.strictSame(hostsNamedIn("return 'x-token-auth'"), ['x-token-auth'])
  t.strictSame(hostsNamedIn("// as 'gitlab' has it\nreturn 1"), [])
})
