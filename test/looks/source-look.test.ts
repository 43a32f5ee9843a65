import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { sourceDigest } from '../../functions/domain/commit/source-digest.ts'
import { Failure } from '../../functions/domain/failure.ts'
import { parse } from '../../functions/domain/schema/parse.ts'
import { MISSING } from '../../functions/domain/resource/waiting.ts'
import { lookAtSources, type SourceLooks } from '../../functions/looks/source-look.ts'
import { gitCommit } from '../harness/memory-world.ts'

const OWNER = { uid: 'uid', namespace: 'team' }
const MAP = { apiVersion: 'v1', kind: 'ConfigMap' }
const files = [
  ...Array.from({ length: 20 }, (_, i) => ({ path: `${i}`, resourceRef: { ...MAP, name: `map-${i % 10}` } })),
  { path: 'text', content: 'x' },
]
const PARSED = parse(gitCommit({ resourceRef: undefined, files }))

function cluster(looked: string[], read: (name: string) => string): SourceLooks {
  const cluster: SourceLooks['cluster'] = {
    discover: () => Promise.resolve({ plural: 'configmaps', namespaced: true }),
    readVersion: async ({ name }) => {
      looked.push(name)
      return read(name)
    },
  }
  return { cluster, shareLook: (_namespace, look) => look() }
}

t.test('each object is looked at once, and the digest is that of an attempt', async (t) => {
  const looked: string[] = []
  const seen = await lookAtSources(
    PARSED,
    OWNER,
    cluster(looked, (name) => `${name}/1`),
  )
  t.equal(looked.length, 10)
  if (!PARSED.sound || PARSED.kind !== 'GitCommit') return t.fail('has to be sound')
  const sightings = new Map(
    files.slice(0, 20).map((_, i) => [`spec.files[${i}].resourceRef`, `map-${i % 10}/1`] as const),
  )
  t.equal(seen, sourceDigest('uid', PARSED.spec, sightings))
})

t.test('one that is gone is another digest, and one that cannot be asked for a Failure', async (t) => {
  const before = await lookAtSources(
    PARSED,
    OWNER,
    cluster([], (name) => `${name}/1`),
  )
  const gone = await lookAtSources(
    PARSED,
    OWNER,
    cluster([], (name) => (name === 'map-3' ? MISSING : `${name}/1`)),
  )
  t.not(gone, before)
  const failing = cluster([], () => {
    throw new Failure('NetworkError', 'No answer.')
  })
  await t.rejects(lookAtSources(PARSED, OWNER, failing), { name: 'Failure', reason: 'NetworkError' })
})

t.test('after one that cannot be asked for, no other one is looked at', async (t) => {
  const looked: string[] = []
  const { promise: answered, resolve: answer } = Promise.withResolvers<undefined>()
  const failing = cluster(looked, (name) => {
    if (name === 'map-0') throw new Failure('NetworkError', 'No answer.')
    return `${name}/1`
  })
  const { readVersion } = failing.cluster
  const slow: typeof readVersion = async (named, ...of) => {
    const version = await readVersion(named, ...of)
    await answered
    return version
  }
  const looks = { ...failing, cluster: { ...failing.cluster, readVersion: slow } }
  await t.rejects(lookAtSources(PARSED, OWNER, looks), { name: 'Failure', reason: 'NetworkError' })
  answer(undefined)
  await setImmediate()
  t.equal(looked.length, 8)
})

t.test('a spec with errors has no sources', async (t) => {
  t.equal(
    await lookAtSources(
      parse(gitCommit({ message: '' })),
      OWNER,
      cluster([], () => ''),
    ),
    undefined,
  )
})
