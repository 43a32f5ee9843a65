import t from 'tap'
import type { Test } from 'tap'
import type { ApiLogin } from '../../functions/domain/credentials/login.ts'
import type { WithPullRequests } from '../../functions/domain/pull-request/pull-requests.ts'
import { hostNamed } from '../../functions/domain/repository/hosts.ts'
import { GITEA } from '../harness/hosts/gitea.ts'
import { isDrawn } from '../harness/sample.ts'
import { DETAILS_CASES } from '../providers/contract/details.ts'
import type { Case } from '../providers/contract/case.ts'
import { OPENING } from '../providers/contract/opening.ts'
import { OUTAGES } from '../providers/contract/outages.ts'
import { OWNERSHIP } from '../providers/contract/ownership.ts'
import { REFUSALS } from '../providers/contract/refusals.ts'
import { startSite, type Site } from '../providers/contract/site.ts'
import { HEAD, stageOn, type Stage } from '../providers/contract/stage.ts'
import { API_PATH } from './gitea-api.ts'
import { findGitea } from './gitea-build.ts'
import { startGitea, type Gitea, type GiteaUser } from './gitea.ts'
import { liveModel } from './live-model.ts'

const PEOPLE = ['dev', 'ops'] as const
/** Of the outages, the one in which Gitea has a part; the others are faults on the way to it. */
const LOST = OUTAGES.filter(({ title }) => title.includes('answer is lost'))
const CASES: readonly Case[] = [...OPENING, ...OWNERSHIP, ...DETAILS_CASES, ...REFUSALS, ...LOST]

/** Cases that a real host cannot be brought to, and why. */
const IMPOSSIBLE: readonly (readonly [RegExp, string])[] = [
  [/behind many later ones|at most ten pages/, 'it would take minutes to open a thousand'],
  [/is gone/, 'Gitea keeps the numbers of what is deleted'],
  [/is no longer visible/, 'the token would have to lose its right'],
  [/(reviewers|assignees) that the host does not know/, 'it would have to make a user of the name'],
]

const found = await findGitea({ env: process.env, say: (line) => t.comment(line) })

if (typeof found === 'string') await t.test('the contract of the providers', (t) => tryAll(t, found))
else t.pass('the contract of the providers on a real Gitea', { skip: found.missing })

async function tryAll(t: Test, built: string): Promise<void> {
  const host = hostNamed('gitea')
  if (host === undefined) throw new Error('The table of hosts has no row for gitea.')
  const site = await startSite(t)
  const gitea = await startGitea(t, built, site.trust)
  const acme = await gitea.createUser('acme')
  const tokens = await makeTokens(gitea, acme)
  const real = withRealTokens(site, tokens)
  let repositories = 0
  const possible = CASES.filter(({ spares }) => spares?.(host) !== true)
  // In CI one of four.
  for (const { title, run } of possible.filter(({ title }) => isDrawn(title, 4))) {
    const skip = IMPOSSIBLE.find(([pattern]) => pattern.test(title))?.[1] ?? false
    t.test(title, { skip }, async (t) => {
      const name = `shop-${(repositories += 1)}`
      // A repository that moves is called so.
      t.teardown(() => acme.ask('DELETE', '/repos/acme/market').catch(() => undefined))
      await run(t, await stageIn(name))
    })
  }

  async function stageIn(name: string): Promise<Stage> {
    const path = `/repos/acme/${name}`
    await acme.ask('POST', '/user/repos', { name, private: true, auto_init: true, default_branch: 'main' })
    for (const person of PEOPLE)
      await acme.ask('PUT', `${path}/collaborators/${person}`, { permission: 'write' })
    for (const label of ['settings', 'urgent'])
      await acme.ask('POST', `${path}/labels`, { name: label, color: '#0000ff' })
    const model = liveModel(acme.askNow, ['acme', name])
    model.branches.set(HEAD, 3)
    const server = { ...gitea.ingress, baseURL: gitea.ingress.origin + API_PATH, violations: [] }
    return stageOn(real, { host: host!, dialect: GITEA, server, model, people: PEOPLE })
  }
}

/** The real tokens by the names that the suite uses. */
async function makeTokens(gitea: Gitea, acme: GiteaUser): Promise<ReadonlyMap<string, string>> {
  for (const person of PEOPLE) await gitea.createUser(person)
  const stranger = await gitea.createUser('bob')
  return new Map([
    ['good-token', await acme.token('write:repository', 'write:issue')],
    ['reader-token', await acme.token('read:repository')],
    ['strangers-token', await stranger.token('write:repository', 'write:issue')],
  ])
}

/** Both processes of Commitlet, which log in with the real tokens. */
function withRealTokens(
  { clock, here, elsewhere }: Site,
  tokens: ReadonlyMap<string, string>,
): Omit<Site, 'trust'> {
  const real = (login: ApiLogin): ApiLogin => {
    const secret = tokens.get(login.secret) ?? login.secret
    return { ...login, secret, secrets: [secret] }
  }
  const by =
    (process: WithPullRequests): WithPullRequests =>
    (target, { login, ...terms }, work) =>
      process(target, { ...terms, login: real(login) }, work)
  return { clock, here: by(here), elsewhere: by(elsewhere) }
}
