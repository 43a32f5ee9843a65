import t from 'tap'
import { awaitedAfter } from '../../functions/domain/resource/waiting.ts'
import { parse } from '../../functions/domain/schema/parse.ts'
import { objectNamed } from '../../functions/looks/look.ts'
import { gitCommit, pullRequest } from '../harness/memory-world.ts'

const FIELD = 'spec.signing'

t.test('the Secret of a signing key is looked at, as those of credentials', async (t) => {
  const signed = parse(gitCommit({ signing: { secretName: 'signing' } }))
  const secret = { apiVersion: 'v1', kind: 'Secret', namespace: 'team' }
  t.strictSame(objectNamed(FIELD, 'team', signed), { ...secret, name: 'signing' })
  t.strictSame(objectNamed('spec.credentials', 'team', signed), { ...secret, name: 'git' })
  t.equal(objectNamed(FIELD, 'team', parse(gitCommit())), undefined)
  t.equal(objectNamed(FIELD, 'team', parse(pullRequest())), undefined)
})

t.test('a resource whose signing key has to be fixed waits for that Secret', async (t) => {
  const key = { uid: '1', key: undefined }
  t.match(awaitedAfter({ retry: 'slow' }, new Map([[FIELD, 'uid/1']]), key), [{ field: FIELD }])
})
