import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parseAllDocuments } from 'yaml'
import { commitObject } from '../../functions/commit/commit-object.ts'
import { GITCOMMIT_SPEC } from '../../functions/domain/schema/git-commit.ts'
import { parseResource } from '../domain/fixtures/parsed.ts'
import type { StoredObject } from '../harness/memory-cluster.ts'
import { ATTEMPT, memoryWorld, STAMPED } from '../harness/memory-world.ts'
import { makeKey } from '../harness/ssh-keys.ts'

const ROOT = join(import.meta.dirname, '../..')
const page = readFileSync(join(ROOT, 'docs/signing.md'), 'utf8')
const example = readFileSync(join(ROOT, 'examples/signing/ssh-key.yaml'), 'utf8')

t.test('the example of the page is the file', async (t) => {
  const blocks = [...page.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, text]) => text)
  t.strictSame(blocks, [example])
  t.match(example, /^# For a developer\. /)
})

t.test('applied with a key, the example makes a signed commit', async (t) => {
  const world = memoryWorld()
  const { privateKey } = makeKey('-t', 'ed25519', '-C', world.settings.author.email)
  const [secret, commit] = parseAllDocuments(example).map((document) => document.toJS() as StoredObject)
  if (secret === undefined || commit === undefined) throw new Error('the example has two objects')
  const inTeam = (name: string): StoredObject['metadata'] => ({
    name,
    namespace: 'team',
    annotations: STAMPED,
  })
  world.cluster.apply({
    ...secret,
    metadata: inTeam('signing-key'),
    stringData: { 'ssh-privatekey': privateKey },
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
  const { signer } = world.pushed[0]?.change ?? {}
  t.match(await signer?.sign(Buffer.from('commit')), /^-----BEGIN SSH SIGNATURE-----/)
})

t.test('the page names each field, and the settings', async (t) => {
  for (const field of Object.keys(GITCOMMIT_SPEC.properties?.['signing']?.properties ?? {}))
    t.match(page, `| \`${field}\` |`)
  for (const setting of ['DEFAULT_SIGNING_KEY_FILE', 'DEFAULT_SIGNING_REPOSITORIES', 'REQUIRE_SIGNING'])
    t.match(page, `| \`${setting}\` |`)
})
