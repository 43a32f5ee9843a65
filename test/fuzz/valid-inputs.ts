import { generateKeyPairSync } from 'node:crypto'
import { FLUSH, packet } from '../../functions/git/protocol/pkt-line.ts'
import { makeRSA, rsaFiles } from '../harness/key-files.ts'
import { keyFile, rsaHalves, secretKey, statement, userID } from '../harness/openpgp-writer.ts'
import { stamped, UID } from '../webhook/stage.ts'

const ID = 'a'.repeat(40)
export const REF = 'refs/heads/main'

/** The data of an event of the webhook. */
export const APPLIED = {
  ...{ apiVersion: 'commitlet.dev/v1', kind: 'GitCommit', namespace: 'shop', name: 'settings' },
  ...{ uid: UID, generation: 2, request: '0a1b2c3d' },
}
/** What each CloudEvent has. */
export const ATTRIBUTES = { specversion: '1.0', id: '1', source: '/x' }
/** CloudEvents of all senders. */
export const EVENTS = [
  { ...ATTRIBUTES, type: 'dev.commitlet.gitcommit.applied', data: APPLIED },
  { ...ATTRIBUTES, type: 'dev.knative.apiserver.resource.update', data: stamped() },
  {
    ...{ ...ATTRIBUTES, type: 'dev.knative.apiserver.ref.update', kind: 'Secret', name: 'git' },
    data: { apiVersion: 'v1', kind: 'Secret', namespace: 'shop', name: 'git' },
  },
  { ...ATTRIBUTES, type: 'dev.knative.sources.ping', data_base64: Buffer.from('{}').toString('base64') },
]
/** An event of the audit log. */
export const AUDITED = {
  ...{ level: 'RequestResponse', auditID: UID, stage: 'ResponseComplete', verb: 'create' },
  requestURI: '/apis/commitlet.dev/v1/namespaces/shop/gitcommits?fieldManager=kubectl',
  objectRef: { resource: 'gitcommits', namespace: 'shop', apiGroup: 'commitlet.dev', apiVersion: 'v1' },
  responseStatus: { code: 201 },
  responseObject: stamped(),
}

const ED25519 = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' })
const CURVE = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
  type: 'sec1',
  format: 'pem',
})
/** Private keys in each format. */
export const KEYS = [...rsaFiles(makeRSA(2048)).map(([, text]) => text), ED25519, CURVE].map((text) =>
  Buffer.from(text),
)
/** OpenPGP keys, with a user ID and a subkey. */
export const OPENPGP_KEYS = [makeRSA(2048)].flatMap((numbers) => {
  const [primary, subkey] = [secretKey(rsaHalves(numbers)), secretKey({ type: 7, ...rsaHalves(numbers) })]
  const said = [statement(0x13, { flags: 3, lifetime: 9 }), subkey, statement(0x18, { flags: 2 })]
  return [[primary], [primary, userID('Robot <robot@example.com>'), ...said]].map((packets) =>
    Buffer.from(keyFile(...packets)),
  )
})
const KEY_BYTES = Buffer.concat([
  Buffer.from([0, 0, 0, 11]),
  ...[Buffer.from('ssh-ed25519'), Buffer.from([0, 0, 0, 32]), Buffer.alloc(32, 7)],
]).toString('base64')
/** Lines for git.example.com. */
export const KNOWN_HOSTS = [
  `git.example.com ssh-ed25519 ${KEY_BYTES}\n@revoked *.example.com ssh-ed25519 ${KEY_BYTES} a comment\n`,
  `|1|${Buffer.alloc(20, 1).toString('base64')}|${Buffer.alloc(20, 2).toString('base64')} ssh-ed25519 ${KEY_BYTES}\n`,
  `# hosts\n!a.example.com,g?t.example.com,[git.example.com]:2222 ssh-ed25519 ${KEY_BYTES}\r\n`,
].map((text) => Buffer.from(text))

/** Secrets for each method. */
export const SECRETS = [
  { token: 'a-token\n' },
  { username: 'commitlet', password: 'a-password' },
  { 'ssh-privatekey': String(ED25519), known_hosts: String(KNOWN_HOSTS[0]) },
].map((data) => ({
  ...{ apiVersion: 'v1', kind: 'Secret', type: 'Opaque' },
  metadata: {
    ...{ name: 'git', namespace: 'shop', resourceVersion: '7', uid: UID },
    annotations: { 'commitlet.dev/allowed-repositories': 'git.example.com/acme' },
  },
  data: Object.fromEntries(
    Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString('base64')]),
  ),
}))

/** Answers of Git servers. */
export const LINES = {
  refs: Buffer.concat([
    packet(`${ID} HEAD symref-target:${REF}\n`),
    packet(`${ID} ${REF}\n`),
    packet(`${ID} refs/heads/other\n`),
    FLUSH,
  ]),
  advertised: Buffer.concat([packet(`${ID} ${REF}\0report-status side-band-64k agent=git/2.40\n`), FLUSH]),
  fetched: Buffer.concat([
    packet('shallow-info\n'),
    packet(`shallow ${ID}\n`),
    Buffer.from('0001'),
    packet('packfile\n'),
    packet('\u0002Counting objects\n'),
    packet(Buffer.concat([Buffer.from([1]), Buffer.from('5041434b0000000200000000', 'hex')])),
    FLUSH,
  ]),
  report: Buffer.concat([
    packet(Buffer.concat([Buffer.from([1]), packet('unpack ok\n'), packet(`ok ${REF}\n`), FLUSH])),
    packet('\u0002remote says hello\n'),
    FLUSH,
  ]),
}
