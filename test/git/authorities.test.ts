import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates } from 'node:tls'
import t from 'tap'
import { writeAuthorities } from '../../functions/git/authorities.ts'
import { makeAuthority } from '../harness/certificates.ts'

const folder = await mkdtemp(join(tmpdir(), 'commitlet-authorities-'))
t.teardown(() => rm(folder, { recursive: true }))

t.test("the bundle holds the operator's authority besides the system's, each once", async (t) => {
  const { certPEM } = await makeAuthority()
  await writeFile(join(folder, 'own.pem'), certPEM)
  const bundle = await writeAuthorities(join(folder, 'own.pem'), join(folder, 'bundle.pem'))
  const text = await readFile(bundle, 'utf8')
  const known = getCACertificates('system')
  const system = new Set(known.length > 0 ? known : getCACertificates('bundled'))
  t.equal(text.split('-----BEGIN CERTIFICATE-----').length - 1, system.size + 1)
  t.ok(text.includes(certPEM.trim()))
  t.equal((await stat(bundle)).mode & 0o777, 0o600)
})
