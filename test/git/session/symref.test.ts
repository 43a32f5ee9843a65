import t from 'tap'
import { readDefaultBranch } from '../../../functions/git/session/symref.ts'

const AT = '12:00:00.123456 pkt-line.c:80            packet:        fetch< '
const SHA = '1'.repeat(40)

const rows = [
  { said: `${SHA} HEAD symref-target:refs/heads/team/trunk`, name: 'team/trunk' },
  { said: `${SHA} HEAD symref-target:refs/heads/trunk peeled:${SHA}`, name: 'trunk' },
  { said: `${SHA} HEAD\\0multi_ack symref=HEAD:refs/heads/trunk object-format=sha1`, name: 'trunk' },
  {
    said: `${SHA} HEAD symref-target:refs/heads/gr\\37777777703\\37777777666\\37777777703\\377777776377`,
    name: 'größ7',
  },
  { said: `${SHA} HEAD symref-target:refs/heads/gr\\303\\266\\303\\2377`, name: 'größ7' },
  { said: `${SHA} HEAD symref-target:refs/heads/gr\\366`, name: undefined },
  { said: `${SHA} HEAD symref-target:refs/heads/a\\1b`, name: undefined },
  { said: `${SHA} HEAD symref-target:refs/heads/a..b`, name: undefined },
  { said: `${SHA} HEAD symref-target:refs/heads/${'a'.repeat(255)}`, name: 'a'.repeat(255) },
  { said: `${SHA} HEAD symref-target:refs/heads/${'a'.repeat(256)}`, name: undefined },
  { said: `${SHA} HEAD symref-target:refs/heads/S3cret-of-the-login`, name: undefined },
  { said: `${SHA} HEAD symref-target:refs/heads/a/s3CRET-of-the-login/b`, name: undefined },
  {
    said: `${SHA} HEAD symref-target:refs/heads/${Buffer.from('S3cret-of-the-login').toString('base64')}`,
    name: undefined,
  },
  { said: `${SHA} HEAD symref-target:refs/heads/glpat-${'aB3'.repeat(7)}`, name: undefined },
  { said: `${SHA} HEAD symref-target:refs/heads/-x`, name: undefined },
  { said: `${SHA} HEAD symref-target:refs/heads/refs/heads/x`, name: undefined },
  { said: `${SHA} HEAD symref-target:refs/heads/HEAD`, name: undefined },
  { said: `${SHA} HEAD symref-target:refs/heads/@{-1}`, name: undefined },
  { said: `${SHA} HEAD symref-target:refs/heads/a\\342\\200\\256b`, name: undefined },
  { said: `${SHA} HEAD`, name: undefined },
]
for (const { said, name } of rows) {
  t.test(`"${said.replace(SHA, '…')}" names ${name ?? 'no branch'}`, async (t) => {
    t.equal(readDefaultBranch([`${AT}version 2`, AT + said], ['S3cret-of-the-login']), name)
  })
}
