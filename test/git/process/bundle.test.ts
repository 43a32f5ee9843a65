import { copyFile, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { getCACertificates } from 'node:tls'
import t from 'tap'
import { openBundles } from '../../../functions/git/process/bundle.ts'
import { followTrust } from '../../../functions/net/trust.ts'
import { makeAuthority } from '../../harness/certificates.ts'

const [{ certPEM: one }, { certPEM: two }] = await Promise.all([makeAuthority(), makeAuthority()])

function open(folder: string) {
  return openBundles(join(folder, 'home'), { trust: followTrust(join(folder, 'own.pem')) })
}

t.test("the bundle holds the operator's authorities and the system's, each once", async (t) => {
  const { file } = await open(t.testdir({ home: {}, 'own.pem': one }))()
  const text = await readFile(file, 'utf8')
  const known = getCACertificates('system')
  const system = new Set(known.length > 0 ? known : getCACertificates('bundled'))
  t.equal(text.split('-----BEGIN CERTIFICATE-----').length - 1, system.size + 1)
  t.ok(text.includes(one.trim()))
  t.equal((await stat(file)).mode & 0o777, 0o600)
})

t.test(
  'a git process keeps its bundle, a later one gets the changed bundle, and the old one is removed',
  async (t) => {
    const folder = t.testdir({ home: {}, 'own.pem': one, 'next.pem': two })
    const acquire = open(folder)
    const files = () => readdir(join(folder, 'home'))
    const [first, same] = [await acquire(), await acquire()]
    t.equal(same.file, first.file)
    await same.release()
    await copyFile(join(folder, 'next.pem'), join(folder, 'own.pem'))
    const second = await acquire()
    t.not(second.file, first.file)
    t.ok((await readFile(second.file, 'utf8')).includes(two.trim()))
    t.ok((await readFile(first.file, 'utf8')).includes(one.trim()))
    await second.release()
    t.equal((await files()).length, 2)
    await first.release()
    t.same(await files(), ['authorities-2.pem'])
    await writeFile(join(folder, 'own.pem'), one)
    await acquire()
    t.same(await files(), ['authorities-3.pem'], 'nobody used the second')
  },
)

t.test('a bundle that could not be written is written by the next one', async (t) => {
  const folder = t.testdir({ 'own.pem': one, home: {} })
  await rm(join(folder, 'home'), { recursive: true })
  const acquire = open(folder)
  await t.rejects(acquire())
  t.testdir({ home: {}, 'own.pem': one })
  t.match((await acquire()).file, /authorities-\d\.pem$/)
})

t.test("without CA_FILE it holds the system's authorities", async (t) => {
  const trust = followTrust(undefined)
  const { file } = await openBundles(t.testdir({}), { trust })()
  const text = await readFile(file, 'utf8')
  for (const authority of await trust.authorities()) t.ok(text.includes(authority.trim()))
})
