import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t from 'tap'
import { readyOf } from '../harness/conditions.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import { gitCommit, install } from '../harness/installation.ts'
import { withGnuPG } from '../harness/openpgp-keys.ts'
import { makeKey } from '../harness/ssh-keys.ts'

/** The committer where COMMIT_AUTHOR_EMAIL is not set. */
const COMMITTER = 'commitlet@users.noreply.local'
const signing = { secretName: 'signing-key' }
const run = promisify(execFile)

function secretOf(privateKey: string): object {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'kubernetes.io/ssh-auth',
    metadata: { name: 'signing-key' },
    stringData: { 'ssh-privatekey': privateKey },
  }
}

withControlPlane(t, async (t, plane) => {
  const commitlet = await install(t, plane)
  const team = await commitlet.createTeam({ secrets: ['git', 'signing-key', 'openpgp-key'] })
  const repository = await commitlet.git.createRepository(`${team.namespace}/config`)
  const { privateKey, publicKey } = makeKey('-t', 'ed25519', '-C', COMMITTER)
  const allowedSigners = join(t.testdir({}), 'allowed_signers')
  await writeFile(allowedSigners, `${COMMITTER} namespaces="git" ${publicKey}\n`)
  await team.apply({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'shop' },
    data: { colour: 'blue' },
  })

  t.test('a commit with spec.signing is good for git verify-commit', async (t) => {
    await team.apply(secretOf(privateKey), gitCommit('signed', repository.url, { branch: 'main', signing }))
    const stored = await team.settled('signed')
    t.match(stored.status, { phase: 'Succeeded' }, readyOf(stored).message)
    const verify = ['-c', `gpg.ssh.allowedSignersFile=${allowedSigners}`, 'verify-commit', '--raw', 'main']
    await t.resolves(repository.git(...verify))
    t.notMatch(JSON.stringify(stored.status), privateKey.slice(60, 120))
  })

  await withGnuPG(t, async (t, gpg) => {
    const key = gpg.makeKey(`Commitlet <${COMMITTER}>`, 'ed25519')
    const format = { format: 'openpgp', privateKeyKey: 'key.asc' }
    const secret = { ...secretOf('unused'), type: 'Opaque', stringData: { 'key.asc': key } }
    const named = { ...secret, metadata: { name: 'openpgp-key' } }
    const openpgp = { secretName: 'openpgp-key', ...format }
    const resourceRef = { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path: 'shop/openpgp.yaml' }
    const spec = { branch: 'openpgp', signing: openpgp, resourceRef }
    await team.apply(named, gitCommit('openpgp', repository.url, spec))
    const stored = await team.settled('openpgp')
    t.match(stored.status, { phase: 'Succeeded' }, readyOf(stored).message)
    const verify = ['-C', repository.path, 'verify-commit', 'openpgp']
    t.match(await run('git', verify, { env: gpg.env }), { stderr: /Good signature from "Commitlet </ })
    const unnamed = { secretName: 'openpgp-key', format: 'openpgp' }
    const body = JSON.stringify(gitCommit('unnamed', repository.url, { branch: 'main', signing: unnamed }))
    const denied = await team.kubectl(['apply', '-f', '-'], { input: body, allowFailure: true })
    t.match(denied, { code: 1, stderr: /spec\.signing\.privateKeyKey.*name the key of the Secret/ })
  })

  t.test('a key of another address fails the commit, and the branch stays', async (t) => {
    const tip = await repository.git('rev-parse', 'main')
    const other = makeKey('-t', 'ed25519', '-C', 'developer@example.com')
    await team.apply(secretOf(other.privateKey))
    const resourceRef = { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path: 'shop/other.yaml' }
    await team.apply(gitCommit('other', repository.url, { branch: 'main', signing, resourceRef }))
    await team.waitFor('other', 'jsonpath={.status.phase}=Retrying', '30s')
    t.match(readyOf(await team.get('other')), { reason: 'CredentialsInvalid', message: COMMITTER })
    t.equal(await repository.git('rev-parse', 'main'), tip)
  })

  t.test('where the operator demands signatures, an unsigned GitCommit is denied at apply', async (t) => {
    await commitlet.webhook.kill()
    await commitlet.startWebhook({ REQUIRE_SIGNING: new URL(repository.url).host })
    const body = JSON.stringify(gitCommit('unsigned', repository.url, { branch: 'main' }))
    const { code, stderr } = await team.kubectl(['apply', '-f', '-'], { input: body, allowFailure: true })
    t.equal(code, 1)
    t.match(stderr, /spec\.signing.*REQUIRE_SIGNING/)
  })
})
