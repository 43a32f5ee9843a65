import { X509Certificate, createPrivateKey } from 'node:crypto'
import t from 'tap'
import { issueCertificate } from '../../../webhook/certificate/issue.ts'

const HOST = 'commitlet-webhook.commitlet-system.svc'
const now = new Date('2030-01-01T00:00:00Z')

t.test('a certificate is for one server alone, and signed by an authority for it alone', async (t) => {
  const [one, other] = [
    await issueCertificate({ host: HOST, now, days: 90 }),
    await issueCertificate({ host: HOST, now, days: 90 }),
  ]
  const [leaf, authority] = [new X509Certificate(one.cert), new X509Certificate(one.authority)]
  t.equal(leaf.checkHost(HOST), HOST)
  t.equal(leaf.checkHost('kubernetes.default.svc'), undefined)
  t.strictSame([leaf.ca, authority.ca], [false, true])
  t.ok(leaf.checkPrivateKey(createPrivateKey(one.key)))
  t.ok(leaf.verify(authority.publicKey))
  t.notOk(leaf.verify(new X509Certificate(other.authority).publicKey))
  t.strictSame(leaf.keyUsage, ['1.3.6.1.5.5.7.3.1'], 'server authentication')
  t.equal(leaf.validFromDate.getTime(), now.getTime() - 3_600_000)
  t.equal(leaf.validToDate.toISOString(), '2030-04-01T00:00:00.000Z')
  t.not(leaf.serialNumber, new X509Certificate(other.cert).serialNumber)
})
