import t from 'tap'
import type { Cluster } from '../../functions/cluster/cluster.ts'
import { awaitedAfter } from '../../functions/domain/resource/waiting.ts'
import { parse } from '../../functions/domain/schema/parse.ts'
import { LONGEST_LOOK_MS, look, objectNamed } from '../../functions/looks/look.ts'
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

t.test('a look that hangs ends', async (t) => {
  const named = { apiVersion: 'things.example.com/v1', kind: 'Thing', namespace: 'team', name: 'it' }
  const never = new Promise<never>(() => undefined)
  let reading: AbortSignal | undefined
  const reads = {
    discover: () => Promise.resolve({ plural: 'things', namespaced: true }),
    readVersion(...[, , by]: Parameters<Cluster['readVersion']>) {
      reading = by?.signal
      return never
    },
  }
  // Its timer alone does not keep the process.
  const alive = setTimeout(() => undefined, 10 * LONGEST_LOOK_MS)
  const late = { name: 'Failure', reason: 'Timeout' }
  const began = performance.now()
  await Promise.all([
    t.rejects(look(named, 'team', reads), late),
    t.rejects(look(named, 'team', { ...reads, discover: () => never }), late),
  ])
  clearTimeout(alive)
  t.ok(performance.now() - began < 10 * LONGEST_LOOK_MS)
  t.equal(reading?.aborted, true)
})
