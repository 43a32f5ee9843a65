import { BROKEN, rejects } from './rejects.ts'

const begin = '-----BEGIN PRIVATE KEY-----\n'
const ROWS: readonly (readonly [title: string, text: string, says: RegExp])[] = [
  ['many keys that do not end', begin.repeat(580), BROKEN],
  [
    'many keys of many labels',
    Array.from({ length: 400 }, (_, i) => `-----BEGIN A${i} PRIVATE KEY-----`).join('\n'),
    BROKEN,
  ],
  ['a label of 16,000 letters', `-----BEGIN ${'A '.repeat(8000)}PRIVATE KEY`, /does not hold a private key/],
  ['a key of empty lines', `${begin}${'\n'.repeat(16_000)}!\n-----END PRIVATE KEY-----`, BROKEN],
  [
    'a passphrase that never comes',
    `${begin}${'Proc-Type:    '.repeat(1000)}\n-----END PRIVATE KEY-----`,
    BROKEN,
  ],
  ['a long type of SSH', `ssh-${'-cert-v01'.repeat(1700)}`, /does not hold a private key/],
  ['spaces', `${' '.repeat(16_000)}x`, /does not hold a private key/],
]

for (const [title, text, says] of ROWS) rejects(title, text, says)
