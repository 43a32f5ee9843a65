import { join } from 'node:path'
import t from 'tap'
import { commitObject } from '../../functions/commit/commit-object.ts'
import { readSigningKeyFile } from '../../functions/default-signing.ts'
import { asFailure, Failure } from '../../functions/domain/failure.ts'
import type { AttemptSettings } from '../../functions/world.ts'
import { parseResource } from '../domain/fixtures/parsed.ts'
import { ATTEMPT, gitCommit, memoryWorld } from '../harness/memory-world.ts'
import { makeRSA } from '../harness/key-files.ts'
import { keyFile, rsaHalves, secretKey } from '../harness/openpgp-writer.ts'
import { makeKey } from '../harness/ssh-keys.ts'

const { privateKey, publicKey } = makeKey('-t', 'ed25519')
const SIGNING = { signing: { secretName: 'signing' } }

interface Case {
  readonly spec?: Readonly<Record<string, unknown>>
  readonly settings?: Partial<AttemptSettings>
  readonly annotations?: Readonly<Record<string, string>>
  readonly key?: string
}

/** An attempt in a world with a Secret that holds a key; returns what was pushed, or the failure. */
async function attempt({ spec = SIGNING, settings = {}, annotations = {}, key = privateKey }: Case) {
  const world = memoryWorld()
  world.cluster.apply({
    apiVersion: 'v1',
    kind: 'Secret',
    type: 'Opaque',
    metadata: { name: 'signing', namespace: 'team', annotations },
    stringData: { 'ssh-privatekey': key },
  })
  const resource = parseResource(world.cluster.apply(gitCommit(spec)))
  if (resource.kind !== 'GitCommit') throw new Error('no GitCommit')
  const there = { ...world, settings: { ...world.settings, ...settings } }
  const failure = await commitObject(resource, there, ATTEMPT).then(() => undefined, asFailure)
  return failure ?? world.pushed[0]
}

t.test('a commit is signed with the key of the Secret, whose values are masked', async (t) => {
  const pushed = await attempt({})
  if (pushed === undefined || pushed instanceof Failure) throw new Error('not pushed', { cause: pushed })
  t.match(await pushed.change.signer?.sign(Buffer.from('commit')), /BEGIN SSH SIGNATURE/)
  t.ok(pushed.login.secrets.includes(privateKey.trim()))
})

const DEFAULT = join(t.testdir({ key: privateKey }), 'key')
const BY_DEFAULT = { signingKeyFile: DEFAULT, defaultSigning: 'git.example.com/acme' }

t.test('without spec.signing the default key signs in its repositories alone', async (t) => {
  t.match(await attempt({ spec: {}, settings: BY_DEFAULT }), { change: { signer: {} } })
  const elsewhere = { ...BY_DEFAULT, defaultSigning: 'git.example.com/other' }
  t.match(await attempt({ spec: {}, settings: elsewhere }), { change: { signer: undefined } })
  t.match(await attempt({ spec: {} }), { change: { signer: undefined } })
})

t.test("the text of the operator's key tells the format of the signature", async (t) => {
  const signingKeyFile = join(t.testdir({ key: keyFile(secretKey(rsaHalves(makeRSA(2048)))) }), 'key')
  const pushed = await attempt({ spec: {}, settings: { ...BY_DEFAULT, signingKeyFile } })
  if (pushed === undefined || pushed instanceof Failure) throw new Error('not pushed', { cause: pushed })
  const commit = Buffer.from('tree 0\ncommitter Robot <robot@example.com> 1700000000 +0000\n\nx')
  t.match(await pushed.change.signer?.sign(commit), /BEGIN PGP SIGNATURE/)
  const env = { DEFAULT_SIGNING_KEY_FILE: signingKeyFile, DEFAULT_SIGNING_REPOSITORIES: 'git.example.com' }
  t.equal(readSigningKeyFile(env), signingKeyFile)
})

for (const [title, given, reason, message] of [
  [
    'a Secret for another repository',
    { annotations: { 'commitlet.dev/allowed-repositories': 'git.example.com/x' } },
    'ReferenceForbidden',
    /does not allow/,
  ],
  [
    'a Secret for other paths',
    { annotations: { 'commitlet.dev/allowed-paths': 'other' } },
    'ReferenceForbidden',
    /not below a path/,
  ],
  ['no private key', { key: publicKey }, 'CredentialsInvalid', /holds a public key/],
  ['no Secret', { spec: { signing: { secretName: 'none' } } }, 'ReferenceNotFound', /no Secret team\/none/],
  [
    'a default key that is gone',
    { spec: {}, settings: { ...BY_DEFAULT, signingKeyFile: `${DEFAULT}.gone` } },
    'CredentialsInvalid',
    /DEFAULT_SIGNING_KEY_FILE/,
  ],
  [
    'a signature that is demanded',
    { spec: {}, settings: { requireSigning: 'git.example.com' } },
    'InvalidSpec',
    /REQUIRE_SIGNING/,
  ],
] as const)
  t.test(`${title}: nothing is pushed`, async (t) => {
    t.match(await attempt(given), { reason, message })
  })

t.test('the fallback credentials are not tried for a key that signs nothing', async (t) => {
  const fallbackCredentials = { secretName: 'missing' }
  t.match(await attempt({ spec: { ...SIGNING, fallbackCredentials }, key: publicKey }), {
    reason: 'CredentialsInvalid',
  })
})

t.test('at the start the file of the default key is read, and needs repositories', async (t) => {
  const both = { DEFAULT_SIGNING_KEY_FILE: DEFAULT, DEFAULT_SIGNING_REPOSITORIES: 'git.example.com' }
  t.equal(readSigningKeyFile({}), undefined)
  t.equal(readSigningKeyFile(both), DEFAULT)
  t.throws(
    () => readSigningKeyFile({ DEFAULT_SIGNING_KEY_FILE: DEFAULT }),
    /^DEFAULT_SIGNING_REPOSITORIES is not set/,
  )
  t.throws(() => readSigningKeyFile({ ...both, DEFAULT_SIGNING_KEY_FILE: '/nothing' }), /cannot be read/)
})
