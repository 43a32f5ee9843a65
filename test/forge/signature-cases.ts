import type { Test } from 'tap'
import { member, textMember } from '../../functions/domain/json-value.ts'
import type { Installation, Team } from '../harness/installation.ts'
import { configMap, gitCommit } from '../harness/installation.ts'
import { withGnuPG } from '../harness/openpgp-keys.ts'
import { makeKey, type KeyFiles } from '../harness/ssh-keys.ts'
import { addVerifiedKey } from './gitea-keys.ts'
import type { Gitea, GiteaUser } from './gitea.ts'

/** A Gitea whose user's address is COMMIT_AUTHOR_EMAIL, and who may write to `lab` with this token. */
export interface SignatureStage {
  readonly gitea: Gitea
  readonly owner: GiteaUser
  readonly commitlet: Installation
  readonly token: string
  /** A folder of the repository for this run. */
  readonly folder: string
}

/** What Gitea says about the signature of a commit, in its API and on its pages. */
interface Verification {
  readonly verified: boolean
  readonly reason: string
}

/** Commits signed with a key of either kind are shown as verified, and with a key that Gitea does not know they are not. */
export async function signatureTests(t: Test, stage: SignatureStage): Promise<void> {
  const { gitea, owner } = stage
  await t.test('SSH', async (t) => {
    const [known, added, stranger] = Array.from({ length: 3 }, () => sshKey(owner))
    await addVerifiedKey(gitea.httpOrigin, owner, known!)
    await owner.ask('POST', '/user/keys', { title: `unverified ${stage.folder}`, key: added!.publicKey })
    const shown = (key?: KeyFiles): Promise<Verification> => shownOf(t, stage, 'ssh', key!.privateKey)
    t.match(await shown(known), { verified: true, reason: `${owner.name} / SHA256:` })
    t.match(await shown(added), { verified: false }, 'a key that was added only')
    t.match(await shown(stranger), { verified: false }, 'a key of nobody')
  })
  await withGnuPG(t, async (t, gpg) => {
    const userID = `Commitlet <${owner.email}>`
    const known = gpg.makeKey(userID, 'ed25519')
    await owner.ask('POST', '/user/gpg_keys', { armored_public_key: gpg.run('--armor', '--export', userID) })
    t.match(await shownOf(t, stage, 'openpgp', known), { verified: true })
  })
}

function sshKey({ email }: GiteaUser): KeyFiles {
  return makeKey('-t', 'ed25519', '-C', email)
}

/** Commits with this key, in a namespace of its own. */
async function shownOf(
  t: Test,
  stage: SignatureStage,
  format: 'ssh' | 'openpgp',
  privateKey: string,
): Promise<Verification> {
  const { gitea, owner, commitlet, token, folder } = stage
  const team = await commitlet.createTeam({ secrets: ['login', 'signing-key'] })
  await store(commitlet, team, { login: { token }, 'signing-key': { key: privateKey } })
  await team.apply(configMap())
  const path = `${folder}/${team.namespace}.yaml`
  const spec = {
    credentials: { secretName: 'login', tokenKey: 'token' },
    signing: { secretName: 'signing-key', privateKeyKey: 'key', format },
    resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path },
  }
  await team.apply(gitCommit('signed', `${gitea.ingress.origin}/${owner.name}/lab.git`, spec))
  const { status } = await team.settled('signed')
  t.match(status, { phase: 'Succeeded' })
  const sha = textMember(member(status, 'commit'), 'sha') ?? 'none'
  const made = await owner.ask('GET', `/repos/${owner.name}/lab/git/commits/${sha}`)
  return member(member(made, 'commit'), 'verification') as Verification
}

async function store(
  { plane }: Installation,
  { namespace }: Team,
  secrets: Readonly<Record<string, Readonly<Record<string, string>>>>,
): Promise<void> {
  for (const [name, stringData] of Object.entries(secrets))
    await plane.api.need('POST', `/api/v1/namespaces/${namespace}/secrets`, {
      metadata: { name },
      stringData,
    })
}
