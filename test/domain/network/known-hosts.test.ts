import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import {
  fingerprintOf,
  knownName,
  readKnownHosts,
  typeOf,
  writeKnownHosts,
} from '../../../functions/domain/network/known-hosts.ts'
import { inFolder, makeKey } from '../../harness/ssh-keys.ts'
import { cpuTime } from '../../harness/cpu-time.ts'
import { allowedMs } from '../../harness/growth.ts'

const [, ED25519 = ''] = makeKey('-t', 'ed25519').publicKey.split(' ')
const [, ECDSA = ''] = makeKey('-t', 'ecdsa').publicKey.split(' ')
const KEY = `ssh-ed25519 ${ED25519}`
const HOST = 'git.example.com'
const at22 = { host: HOST, port: 22 }
const at2222 = { host: HOST, port: 2222 }

/** `ssh-keygen -H` of the text. */
function hashed(text: string): string {
  return inFolder((folder) => {
    const file = join(folder, 'known_hosts')
    writeFileSync(file, text)
    execFileSync('ssh-keygen', ['-H', '-f', file], { stdio: 'ignore' })
    return readFileSync(file, 'utf8')
  })
}

const HOLDS: readonly (readonly [string, string, boolean])[] = [
  ['a name', `${HOST} ${KEY}`, true],
  ['a name and a comment', `${HOST} ${KEY} some comment`, true],
  ['blanks and tabs', `  ${HOST}\t ${KEY}  `, true],
  ['another name', `example.com ${KEY}`, false],
  ['a prefix of our name', `git.example ${KEY}`, false],
  ['a list', `a.example.com,${HOST},192.0.2.1 ${KEY}`, true],
  ['another case', `GIT.Example.COM ${KEY}`, true],
  ['a star', `*.example.com ${KEY}`, true],
  ['a star that stands for nothing', `git.example.com* ${KEY}`, true],
  ['several stars', `*e*m*.*c*m ${KEY}`, true],
  ['several stars that do not fit', `*e*m*.*c*x ${KEY}`, false],
  ['a question mark', `g?t.example.com ${KEY}`, true],
  ['too many question marks', `git.example.com? ${KEY}`, false],
  ['a dot is no wildcard', `git-example.com ${KEY}`, false],
  ['a negated name', `*.example.com,!${HOST} ${KEY}`, false],
  ['a name that is negated first', `!${HOST},*.example.com ${KEY}`, false],
  ['another negated name', `*.example.com,!a.example.com ${KEY}`, true],
  ['only negated names', `!a.example.com ${KEY}`, false],
  ['a hashed name', hashed(`${HOST} ${KEY}\n`), true],
  ['another hashed name', hashed(`example.com ${KEY}\n`), false],
  ['a hash that is broken', `|1|x ${KEY}`, false],
  ['a comment', `# ${HOST} ${KEY}`, false],
  ['a comment without a blank', `#${HOST} ${KEY}`, false],
  ['an empty line', '', false],
  ['no key', `${HOST} ssh-ed25519`, false],
  ['a key that is no base64', `${HOST} ssh-ed25519 !!!`, false],
  ['a key of another type than it says', `${HOST} ssh-rsa ${ED25519}`, false],
  ['a key of an unknown type', `${HOST} ssh-dss ${ED25519}`, false],
  ['the old form with numbers', `${HOST} 1024 35 1234567890`, false],
  ['a certificate authority', `@cert-authority ${HOST} ${KEY}`, false],
  ['another marker', `@other ${HOST} ${KEY}`, false],
  ['a port', `[${HOST}]:2222 ${KEY}`, false],
]
for (const [form, line, holds] of HOLDS) {
  t.test(`${form} ${holds ? 'holds' : 'does not hold'}`, async (t) => {
    for (const text of [line, `\r\n# first\r\n${line}\r\n`]) {
      t.same(readKnownHosts(text, at22).revoked, [])
      t.equal(readKnownHosts(text, at22).known.length, holds ? 1 : 0)
    }
  })
}

const PORTS: readonly (readonly [string, boolean])[] = [
  [`[${HOST}]:2222 ${KEY}`, true],
  [`[*.example.com]:2222 ${KEY}`, true],
  [hashed(`[${HOST}]:2222 ${KEY}\n`), true],
  [`${HOST} ${KEY}`, false],
  [`* ${KEY}`, true],
  [`[${HOST}]:22 ${KEY}`, false],
  [`[${HOST}]:222 ${KEY}`, false],
]
t.test('for another port than 22 the entry has to name it', async (t) => {
  for (const [line, holds] of PORTS) t.equal(readKnownHosts(line, at2222).known.length, holds ? 1 : 0, line)
})

t.test('an IPv6 address is named as it is, and in brackets with a port', async (t) => {
  t.equal(readKnownHosts(`2001:db8::1 ${KEY}`, { host: '2001:db8::1', port: 22 }).known.length, 1)
  t.equal(readKnownHosts(`[2001:db8::1]:2222 ${KEY}`, { host: '2001:db8::1', port: 2222 }).known.length, 1)
})

t.test('several keys of one host are all known, and revoked ones are kept separate', async (t) => {
  const text = `${HOST} ${KEY}\n@revoked * ecdsa-sha2-nistp256 ${ECDSA}\n${HOST} ecdsa-sha2-nistp256 ${ECDSA}\n`
  const { known, revoked } = readKnownHosts(text, at22)
  t.same(
    known.map(({ type }) => type),
    ['ssh-ed25519', 'ecdsa-sha2-nistp256'],
  )
  t.same(revoked, [{ type: 'ecdsa-sha2-nistp256', bytes: Buffer.from(ECDSA, 'base64') }])
  t.same(
    readKnownHosts(writeKnownHosts({ known, revoked }, at2222), at2222),
    { known, revoked },
    'written and read',
  )
  t.same(readKnownHosts(writeKnownHosts({ known, revoked }, at2222), at22), { known: [], revoked: [] })
})

t.test('many stars are matched quickly', async (t) => {
  const started = cpuTime()
  const line = `${'*a'.repeat(4_000)} ${KEY}`
  t.same(readKnownHosts(line, { host: `${'a'.repeat(63)}.`.repeat(3), port: 22 }).known, [])
  t.ok(cpuTime() - started < allowedMs(100))
})

t.test('a fingerprint is what ssh-keygen prints', async (t) => {
  const printed = execFileSync('ssh-keygen', ['-lf', '-'], { input: KEY, encoding: 'utf8' })
  t.equal(fingerprintOf(Buffer.from(ED25519, 'base64')), printed.split(' ')[1])
})

t.test('a key says its type, and other bytes have none', async (t) => {
  t.equal(typeOf(Buffer.from(ECDSA, 'base64')), 'ecdsa-sha2-nistp256')
  for (const bytes of [[], [0, 0, 0, 9, 1], [1]]) t.equal(typeOf(Buffer.from(bytes)), undefined)
})

t.test('a host is named without its port where that is 22', async (t) => {
  t.equal(knownName('Git.example.com', 22), 'git.example.com')
  t.equal(knownName('git.example.com', undefined), 'git.example.com')
  t.equal(knownName('git.example.com', 443), '[git.example.com]:443')
})
