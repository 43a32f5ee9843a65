import t from 'tap'
import { accessTo } from '../../../functions/domain/gate/access.ts'
import { reviewContextOf } from '../../../functions/domain/gate/review-context.ts'
import { memoryCluster } from '../../harness/memory-cluster.ts'

const SUBJECT = { username: 'developer', groups: ['developers'] }
const SETTINGS = {
  referenceScope: 'any',
  allowedRepositories: 'git.example.com/acme',
  insecureHosts: [],
} as const

t.test('a decision is about this user, in this namespace, with the settings of the operator', async (t) => {
  const cluster = memoryCluster()
  const { review, discover, ...rest } = reviewContextOf(SUBJECT, 'shop', { cluster, settings: SETTINGS })
  t.strictSame(rest, { subject: SUBJECT, namespace: 'shop', ...SETTINGS })
  const served = await discover('v1', 'Secret')
  t.strictSame(served, { plural: 'secrets', namespaced: true })
  if (served === undefined) return
  const access = accessTo('use', served, { apiVersion: 'v1', namespace: 'shop', name: 'git' })
  cluster.mayAccess = () => false
  t.equal(await review(access), false)
  t.strictSame(cluster.reviews, [{ user: SUBJECT, access }])
})
