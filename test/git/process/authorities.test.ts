import { copyFile, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getCACertificates } from 'node:tls'
import t from 'tap'
import { openBundles } from '../../../functions/git/process/authorities.ts'
import { makeAuthority } from '../../harness/certificates.ts'

const [{ certPEM: one }, { certPEM: two }] = await Promise.all([makeAuthority(), makeAuthority()])

function open(folder: string) {
  return openBundles(join(folder, 'home'), { caFile: join(folder, 'own.pem'), broken: () => undefined })
}

t.test("the bundle holds the operator's authority besides the system's, each once", async (t) => {
  await open(t.testdir({ home: {}, 'own.pem': one }))(async (bundle = '') => {
    const text = await readFile(bundle, 'utf8')
    const known = getCACertificates('system')
    const system = new Set(known.length > 0 ? known : getCACertificates('bundled'))
    t.equal(text.split('-----BEGIN CERTIFICATE-----').length - 1, system.size + 1)
    t.ok(text.includes(one.trim()))
    t.equal((await stat(bundle)).mode & 0o777, 0o600)
  })
})

t.test(
  'who has begun keeps its bundle, who comes after a change gets another, and the old one goes',
  async (t) => {
    const folder = t.testdir({ home: {}, 'own.pem': one, 'next.pem': two })
    const withBundle = open(folder)
    const files = () => readdir(join(folder, 'home'))
    await withBundle(async (first = '') => {
      t.equal(await withBundle(async (same) => same), first)
      await copyFile(join(folder, 'next.pem'), join(folder, 'own.pem'))
      await withBundle(async (second = '') => {
        t.not(second, first)
        t.ok((await readFile(second, 'utf8')).includes(two.trim()))
        t.ok((await readFile(first, 'utf8')).includes(one.trim()))
      })
      t.equal((await files()).length, 2)
    })
    t.same(await files(), ['authorities-2.pem'])
    await writeFile(join(folder, 'own.pem'), one)
    await withBundle(async () => t.same(await files(), ['authorities-3.pem'], 'nobody used the second'))
  },
)

t.test('a bundle that could not be written is written by the next one', async (t) => {
  const folder = t.testdir({ 'own.pem': one, home: {} })
  await rm(join(folder, 'home'), { recursive: true })
  const withBundle = open(folder)
  await t.rejects(withBundle(async () => 'none'))
  t.testdir({ home: {}, 'own.pem': one })
  t.match(await withBundle(async (bundle) => bundle), /authorities-\d\.pem$/)
})

t.test('without CA_FILE there is none', async (t) => {
  const withBundle = openBundles('/nowhere', { caFile: undefined, broken: () => undefined })
  t.equal(await withBundle(async (bundle) => bundle), undefined)
})
