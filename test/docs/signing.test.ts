import { generateKeyPairSync } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { commitObject } from '../../functions/commit/commit-object.ts'
import type { Change } from '../../functions/domain/commit/change.ts'
import { GITCOMMIT_SPEC } from '../../functions/domain/crd/git-commit.ts'
import { parseResource } from '../domain/fixtures/parsed.ts'
import { makeRSA } from '../harness/key-files.ts'
import type { StoredObject } from '../harness/memory-cluster.ts'
import { ATTEMPT, memoryWorld, STAMPED } from '../harness/memory-world.ts'
import { keyFile, rsaHalves, secretKey, userID } from '../harness/openpgp-writer.ts'
import { makeKey } from '../harness/ssh-keys.ts'

const ROOT = join(import.meta.dirname, '../..')
const page = readFileSync(join(ROOT, 'docs/signing.md'), 'utf8')
const EXAMPLES = ['ssh-key', 'openpgp-key', 'github-api'].map((name) =>
  readFileSync(join(ROOT, `examples/signing/${name}.yaml`), 'utf8'),
)
const [SSH = '', OPENPGP = '', API = ''] = EXAMPLES

t.test('the examples of the page are the files', async (t) => {
  const blocks = [...page.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, text]) => text)
  t.strictSame(blocks, EXAMPLES)
  for (const example of EXAMPLES) t.match(example, /^# For a developer\. /)
})

/** Applies the example with this content of its Secret, and returns the change that is pushed. */
async function changeBy(example: string, key: Readonly<Record<string, string>>): Promise<Change | undefined> {
  const world = memoryWorld()
  Object.assign(world, {
    appTokens: () => Promise.resolve({ token: 'ghs_1', counted: 'x', forget: () => undefined }),
  })
  const [secret, commit] = parseAllDocuments(example).map((document) => document.toJS() as StoredObject)
  if (secret === undefined || commit === undefined) throw new Error('the example has two objects')
  const inTeam = (name: string): StoredObject['metadata'] => ({
    name,
    namespace: 'team',
    annotations: STAMPED,
  })
  world.cluster.apply({
    ...secret,
    metadata: inTeam(secret.metadata.name),
    stringData: key,
  })
  world.cluster.apply({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: inTeam('git-credentials'),
    stringData: { token: 's3cr3t-token' },
  })
  world.cluster.apply({ apiVersion: 'v1', kind: 'ConfigMap', metadata: inTeam('shop-settings'), data: {} })
  const resource = parseResource(world.cluster.apply({ ...commit, metadata: inTeam('shop-settings') }))
  if (resource.kind !== 'GitCommit') throw new Error('no GitCommit')
  await commitObject(resource, world, ATTEMPT)
  return world.pushed[0]?.change
}

async function signatureBy(...given: Parameters<typeof changeBy>): Promise<string | undefined> {
  const change = await changeBy(...given)
  return change?.signer?.sign(
    Buffer.from('tree 0\ncommitter Robot <robot@example.com> 1700000000 +0000\n\nx'),
  )
}

const { email } = memoryWorld().settings.author

t.test('applied with a key for SSH, the example makes a signed commit', async (t) => {
  const { privateKey } = makeKey('-t', 'ed25519', '-C', email)
  t.match(await signatureBy(SSH, { 'ssh-privatekey': privateKey }), /^-----BEGIN SSH SIGNATURE-----/)
})

t.test('applied with a key of OpenPGP, the example makes a signed commit', async (t) => {
  const key = keyFile(secretKey(rsaHalves(makeRSA(2048))), userID(`Commitlet <${email}>`))
  t.match(await signatureBy(OPENPGP, { 'private-key.asc': key }), /^-----BEGIN PGP SIGNATURE-----/)
})

t.test('applied with a GitHub App, the example lets GitHub make the commit', async (t) => {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = privateKey.export({ type: 'pkcs1', format: 'pem' }).toString()
  const change = await changeBy(API, { 'app-id': '4711', 'private-key': pem })
  t.type(change?.commitByAPI, 'function')
  t.equal(change?.signer, undefined)
})

t.test('the page names each field, and the settings', async (t) => {
  for (const field of Object.keys(GITCOMMIT_SPEC.properties?.['signing']?.properties ?? {}))
    t.match(page, `| \`${field}\` |`)
  for (const setting of ['DEFAULT_SIGNING_KEY_FILE', 'DEFAULT_SIGNING_REPOSITORIES', 'REQUIRE_SIGNING'])
    t.match(page, `| \`${setting}\` |`)
})
