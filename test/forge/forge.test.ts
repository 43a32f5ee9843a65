import t from 'tap'
import type { Test } from 'tap'
import { textMember } from '../../functions/domain/json-value.ts'
import { withControlPlane, type ControlPlane } from '../harness/control-plane.ts'
import { configMap, gitCommit, install, type Installation, type Team } from '../harness/installation.ts'
import { waitFor } from '../harness/wait.ts'
import { ended } from './ended.ts'
import { HEAD, makeLogins, makeRepositories, OWNER, type Logins } from './forge-stage.ts'
import { findGitea } from './gitea-build.ts'
import { startGitea, type Gitea } from './gitea.ts'
import { goodLogins, refusedLogins, type LoginCase } from './login-cases.ts'
import { pullRequestTests } from './pull-request-cases.ts'
import { signatureTests } from './signature-cases.ts'

/** Both engines of Git, as GIT_ENGINE names them. */
const ENGINES = ['direct', 'binary'] as const

const found = await findGitea({ env: process.env, say: (line) => t.comment(line) })

if (typeof found === 'string') await withControlPlane(t, (t, plane) => tryAll(t, plane, found))
else t.pass('a real Gitea', { skip: found.missing })

async function tryAll(t: Test, plane: ControlPlane, built: string): Promise<void> {
  const gitea = await startGitea(t, built)
  const owner = await gitea.createUser(OWNER)
  await makeRepositories(owner)
  const logins = await makeLogins(gitea, owner)
  const host = new URL(gitea.ingress.origin).host
  const functionEnv = {
    CA_FILE: gitea.caFile,
    COMMIT_AUTHOR_EMAIL: owner.email,
    DEFAULT_GIT_TOKEN: logins.token,
    DEFAULT_GIT_REPOSITORIES: `${host}/${OWNER}`,
  }
  const commitlet = await install(t, plane, { functionEnv })

  for (const engine of ENGINES) {
    t.test(`the engine ${engine}`, async (t) => {
      await commitlet.function.stop()
      await commitlet.startFunction({ GIT_ENGINE: engine })
      await commitTests(t, { gitea, commitlet, logins, engine })
      const stage = { gitea, owner, commitlet, token: logins.token, folder: engine }
      await t.test('signed commits are shown as verified', (t) => signatureTests(t, stage))
    })
  }
  t.test('pull requests', (t) => pullRequestTests(t, { gitea, commitlet, logins, owner }))
}

interface Forge {
  readonly gitea: Gitea
  readonly commitlet: Installation
  readonly logins: Logins
  readonly engine: string
}

async function commitTests(t: Test, { gitea, commitlet, logins, engine }: Forge): Promise<void> {
  const addressOf = (form: LoginCase['form'], name: string): string =>
    `${form === 'ssh' ? gitea.sshOrigin : gitea.ingress.origin}/${OWNER}/${name}.git`
  // Gitea notes later that a repository is no longer empty, and answers 500 until then.
  const textOf = (repository: string, path: string): Promise<string> =>
    waitFor(
      `content of ${path}`,
      () =>
        gitea.ask('GET', `/repos/${OWNER}/${repository}/contents/${path}?ref=main`).then(
          (shown) => Buffer.from(textMember(shown, 'content') ?? '', 'base64').toString(),
          () => undefined,
        ),
      10_000,
    )

  t.test('every kind of login writes to a private repository, all at the same moment', async (t) => {
    const cases = goodLogins(logins, gitea.knownHosts)
    const team = await teamWith(commitlet, cases)
    await Promise.all(
      Object.entries(cases).map(([name, { form, spec }]) =>
        team.apply(commitOf(name, addressOf(form, 'lab'), { ...spec, path: `${engine}/${name}.yaml` })),
      ),
    )
    for (const [name, { used = 'Primary' }] of Object.entries(cases)) {
      const { status } = await team.settled(name)
      t.match(status, { phase: 'Succeeded', credentialsUsed: used }, name)
      t.match(await textOf('lab', `${engine}/${name}.yaml`), 'colour: blue', name)
    }
  })

  t.test('what Gitea refuses has its own reason and a sentence', async (t) => {
    const cases = refusedLogins(logins, gitea.knownHosts)
    const team = await teamWith(commitlet, cases)
    await Promise.all(
      Object.entries(cases).map(([name, { form, spec, repository }]) =>
        team.apply(commitOf(name, addressOf(form, repository), { ...spec, path: 'refused.yaml' })),
      ),
    )
    for (const [name, { reason, says }] of Object.entries(cases)) {
      t.match(await ended(team, name), { status: 'False', reason, message: says }, name)
    }
  })

  t.test('an empty repository gets its first commit', async (t) => {
    const { token } = goodLogins(logins, gitea.knownHosts)
    const team = await teamWith(commitlet, { first: token! })
    const address = addressOf('https', 'empty')
    await team.apply(commitOf('first', address, { ...token!.spec, path: `${engine}.yaml` }))
    t.match((await team.settled('first')).status, { phase: 'Succeeded' })
    t.match(await textOf('empty', `${engine}.yaml`), 'colour: blue')
  })

  t.test('a renamed repository is followed by SSH, which Gitea does itself', async (t) => {
    const { key } = goodLogins(logins, gitea.knownHosts)
    const team = await teamWith(commitlet, { key: key! })
    const spec = { ...key!.spec, path: `${engine}.yaml` }
    await team.apply(commitOf('key', addressOf('ssh', 'before'), spec))
    t.match((await team.settled('key')).status, { phase: 'Succeeded' })
    t.match(await textOf('renamed', `${engine}.yaml`), 'colour: blue')
  })

  t.test('a branch that is protected leaves room for another one', async (t) => {
    const { key } = goodLogins(logins, gitea.knownHosts)
    const team = await teamWith(commitlet, { key: key! })
    const spec = { ...key!.spec, branch: `${HEAD}-${engine}`, path: 'settings.yaml' }
    await team.apply(commitOf('key', addressOf('ssh', 'guarded'), spec))
    t.match((await team.settled('key')).status, { phase: 'Succeeded' })
  })
}

/** A namespace with the ConfigMap and the Secrets of these cases. */
async function teamWith(commitlet: Installation, cases: Readonly<Record<string, LoginCase>>): Promise<Team> {
  const named = Object.entries(cases).flatMap(([name, { secrets }]) =>
    Object.entries(secrets).map(([secret, stored]) => [`${name}-${secret}`, stored] as const),
  )
  const team = await commitlet.createTeam({ secrets: named.map(([name]) => name) })
  await team.apply(configMap())
  const path = `/api/v1/namespaces/${team.namespace}/secrets`
  for (const [name, stored] of named)
    await commitlet.plane.api.need('POST', path, { metadata: { name }, ...stored })
  return team
}

/** The GitCommit of a case, with the Secrets by their names in the namespace. */
function commitOf(name: string, repository: string, given: Readonly<Record<string, unknown>>): object {
  const { path, ...spec } = given
  const resourceRef = { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path }
  const named = Object.entries(spec).map(([member, value]) => [member, withSecretOf(name, value)])
  const own = { credentials: undefined, ...Object.fromEntries(named), resourceRef }
  return gitCommit(name, repository, own)
}

function withSecretOf(name: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || !('secretName' in value)) return value
  return { ...value, secretName: `${name}-${String(value.secretName)}` }
}
