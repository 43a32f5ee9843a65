import { createHash, createHmac, generateKeyPairSync } from 'node:crypto'
import t from 'tap'
import { looksLikeCredential } from '../../functions/domain/credential-text.ts'
import { cpuTime } from '../harness/cpu-time.ts'
import { allowedMs } from '../harness/growth.ts'

/** Text of this length that looks random, the same in each run. */
function noise(length: number, kind: 'base64' | 'base64url' | 'hex' | 'upper' | 'alnum', seed = 'x'): string {
  const blocks = Array.from({ length: Math.ceil(length / 30) + 2 }, (_, i) =>
    createHash('sha512').update(`${seed}${i}`).digest(),
  )
  const bytes = Buffer.concat(blocks)
  const text =
    kind === 'upper'
      ? bytes
          .toString('hex')
          .toUpperCase()
          .replace(/[018 9]/g, 'Q')
      : kind === 'alnum'
        ? bytes.toString('base64').replace(/[+/=]/g, '')
        : bytes.toString(kind)
  return text.slice(0, length)
}

// Put together here, so that no scanner takes this file for a leak.
const CREDENTIALS: readonly (readonly [what: string, text: string])[] = [
  ...['ghp', 'gho', 'ghu', 'ghs', 'ghr'].map(
    (kind) => [`GitHub ${kind}`, `${kind}_${noise(36, 'alnum')}`] as const,
  ),
  ['GitHub without a digit', `ghp_${'abcdefghij'.repeat(4)}`],
  ['GitHub fine-grained', `github_pat_${noise(22, 'alnum')}_${noise(59, 'alnum')}`],
  ...['glpat', 'gloas', 'gldt', 'glrt', 'glcbt', 'glptt', 'glft', 'glimt', 'glagent', 'glsoat', 'glffct'].map(
    (kind) => [`GitLab ${kind}`, `${kind}-${noise(20, 'base64url', kind)}`] as const,
  ),
  ['GitLab, routable', `glpat-${noise(27, 'base64url')}.01.0a1b2c3d4`],
  ['GitLab, of an example', `glpat-${'x'.repeat(20)}`],
  ['GitLab runner', `GR1348941${noise(20, 'alnum')}`],
  ['Atlassian API token', `ATATT3xFfGF0${noise(180, 'base64url')}=0A1B2C3D`],
  ['Bitbucket access token', `ATCTT3xFfGN0${noise(160, 'base64url')}=0A1B2C3D`],
  ['Bitbucket app password', `ATBB${noise(32, 'alnum')}`],
  ['Slack bot', `xoxb-123456789012-${noise(24, 'alnum')}`],
  ['Slack user', `xoxp-123456789012-123456789012-${noise(24, 'alnum')}`],
  ['Slack app', `xapp-1-A${noise(20, 'upper')}`],
  ['AWS access key', `AKIA${noise(16, 'upper')}`],
  ['AWS temporary key', `ASIA${noise(16, 'upper')}`],
  ['Google API key', `AIza${noise(35, 'alnum')}`],
  ['Google OAuth', `ya29.${noise(60, 'base64url')}`],
  ['npm', `npm_${noise(36, 'alnum')}`],
  ['Docker Hub', `dckr_pat_${noise(27, 'alnum')}`],
  ['Vault', `hvs.${noise(24, 'alnum')}`],
  ['Stripe', `sk_live_${noise(24, 'alnum')}`],
  ['JSON Web Token', jsonWebToken()],
  ...(['pkcs1', 'pkcs8'] as const).map((type) => [`RSA ${type}`, rsaKey(type)] as const),
  [
    'OpenSSH',
    `-----BEGIN OPENSSH PRIVATE KEY-----\n${noise(100, 'base64')}\n-----END OPENSSH PRIVATE KEY-----`,
  ],
  ['OpenPGP', '-----BEGIN PGP PRIVATE KEY BLOCK-----'],
  ['encrypted', '-----BEGIN ENCRYPTED PRIVATE KEY-----'],
  ['PuTTY', 'PuTTY-User-Key-File-3: ssh-ed25519'],
]

function jsonWebToken(): string {
  const [head, body] = [{ alg: 'HS256', typ: 'JWT' }, { sub: 'system:serviceaccount:shop:default' }].map(
    (part) => Buffer.from(JSON.stringify(part)).toString('base64url'),
  )
  return `${head}.${body}.${createHmac('sha256', 'x').update(`${head}.${body}`).digest('base64url')}`
}

function rsaKey(type: 'pkcs1' | 'pkcs8'): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 })
  return privateKey.export({ type, format: 'pem' }).toString()
}

for (const [what, text] of CREDENTIALS) {
  t.test(`a credential is recognized: ${what}`, async (t) => {
    for (const whole of [
      text,
      `Use ${text}.`,
      `token=${text}`,
      `"${text}"`,
      `a\n${text}\nb`,
      `https://h/${text}/x`,
      `token_of-${text}`,
    ])
      t.ok(looksLikeCredential(whole), whole.slice(0, 30))
  })
}

t.test('ordinary text, names, hashes and base64 are no credential', async (t) => {
  const words = [
    '',
    'chore: rotate the ghp_ tokens and glpat- tokens',
    'ghs_internationalization',
    'use gho_token_of_the_team instead of AKIA keys',
    'glpat-rotation-of-all-teams-in-may',
    'glft-feature-for-the-whole-company',
    'gloss-a-very-long-name-of-a-branch-2026',
    'xoxo-hugs-and-kisses',
    'xoxb-bots-of-all-teams',
    'github_pat_of_shop',
    'AKIA',
    'AKIAlphaAndOmegaOfTheWorld',
    'ATTACHMENTS_AND_MORE_FILES_OF_ALL_KINDS',
    'npm_config_registry_of_the_whole_company_here',
    'sk-learn-models-of-2026-and-others',
    '-----BEGIN CERTIFICATE-----',
    '-----BEGIN PUBLIC KEY-----',
    'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl',
    'eyJhbGciOiJIUzI1NiJ9',
    'git@git.example.com:acme/shop.git',
    'https://bitbucket.org/acme/{c3a5d5ce-0f2e-4d1c-9c1b-0d6f5b2a7e11}',
    '0123456789abcdef0123456789abcdef01234567',
    '550e8400-e29b-41d4-a716-446655440000',
    '2026-10-04T12:00:00Z',
  ]
  for (const text of words) t.notOk(looksLikeCredential(text), text)
})

t.test('noise of any kind is no credential', async (t) => {
  for (const kind of ['base64', 'base64url', 'hex', 'upper', 'alnum'] as const) {
    t.notOk(looksLikeCredential(noise(200_000, kind)), kind)
    t.notOk(looksLikeCredential(noise(200_000, kind).replace(/.{76}/g, '$&\n')), `${kind} in lines`)
  }
})

t.test('text of any kind is searched in a moment', async (t) => {
  const parts = [
    'gh',
    'ghp_',
    'glpat-',
    'glpat-a ',
    'xoxb-',
    'eyJ',
    'eyJaaaaaaaaaa.',
    ' eyJ',
    '-eyJ',
    '_eyJaaaaaaaaaa.',
    '-----BEGIN ',
    'A',
    'AKIA',
    ' a',
    'SG.aaaaaaaaaaaaaaaaaaaa.',
  ]
  for (const part of parts) {
    const text = part.repeat(2_000_000 / part.length)
    const before = cpuTime()
    looksLikeCredential(text)
    t.ok(cpuTime() - before < allowedMs(100), `${JSON.stringify(part)}: ${Math.round(cpuTime() - before)} ms`)
  }
})
