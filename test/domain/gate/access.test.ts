import t from 'tap'
import { accessTo, mayAccess } from '../../../functions/domain/gate/access.ts'
import type { Access } from '../../../functions/domain/gate/access.ts'

const OBJECT = { apiVersion: 'v1', namespace: 'shop', name: 'settings' }

t.test('access is named as RBAC names it: group, version and resource', async (t) => {
  const served = { plural: 'configmaps', namespaced: true }
  t.strictSame(accessTo('get', served, OBJECT), {
    verb: 'get',
    group: '',
    version: 'v1',
    resource: 'configmaps',
    namespace: 'shop',
    name: 'settings',
  })
  t.match(accessTo('use', { ...served, plural: 'deployments' }, { ...OBJECT, apiVersion: 'apps/v1' }), {
    verb: 'use',
    group: 'apps',
    version: 'v1',
    resource: 'deployments',
  })
})

t.test('what is cluster-scoped has no namespace, whatever is given', async (t) => {
  const access = accessTo('get', { plural: 'namespaces', namespaced: false }, OBJECT)
  t.equal(access.namespace, undefined)
})

for (const [title, change, asked] of [
  ['one object is asked for', {}, true],
  ['one object of the cluster is asked for', { namespace: undefined }, true],
  ['an empty name would be all objects', { name: '' }, false],
  ['an empty namespace would be all namespaces', { namespace: '' }, false],
] as const) {
  t.test(title, async (t) => {
    const access: Access = {
      ...accessTo('get', { plural: 'configmaps', namespaced: true }, OBJECT),
      ...change,
    }
    const questions: Access[] = []
    async function review(question: Access): Promise<boolean> {
      questions.push(question)
      return true
    }
    t.equal(await mayAccess(access, review), asked)
    t.strictSame(questions, asked ? [access] : [])
    t.equal(await mayAccess(access, () => Promise.resolve(false)), false)
  })
}
