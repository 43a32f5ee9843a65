import t from 'tap'
import { Failure } from '../../functions/domain/failure.ts'
import { lookingWorld, object, settled } from './stage.ts'

const REF = { kind: 'GitCommit', namespace: 'team', name: 'late' } as const

t.test('what is missing is looked for after 1, 2, 4, 8, 10, 10 seconds, without an attempt', async (t) => {
  const { world, looked, apply, send, advance, status } = lookingWorld()
  apply('late')
  await send('late')
  t.match(status('late'), {
    phase: 'Retrying',
    attempts: 1,
    nextAttemptTime: '2026-03-01T10:10:00Z',
    waitingFor: [{ field: 'spec.resourceRef', version: /^[0-9a-f]{16}$/ }],
    conditions: [{ reason: 'ReferenceNotFound' }, { type: 'Reconciling' }],
  })
  const before = status('late')
  await advance(60)
  t.same(
    looked.map(([, at]) => at),
    [1, 3, 7, 15, 25, 35, 45, 55],
  )
  t.same(status('late'), before, 'nothing was written')
  world.cluster.apply(object('ConfigMap', 'late'))
  await advance(10)
  t.match(status('late'), { phase: 'Succeeded', attempts: 2, waitingFor: undefined })
  t.equal(world.pushed.length, 1)
  t.match(world.pushed, [{ change: { since: undefined } }], 'the attempt before has pushed nothing')
})

t.test('a Secret that is missing is looked for in the same way', async (t) => {
  const { world, apply, send, advance, status } = lookingWorld()
  world.cluster.apply(object('ConfigMap', 'late'))
  apply('late', { credentials: { secretName: 'later', tokenKey: 'token' } })
  await send('late')
  t.match(status('late'), { phase: 'Retrying', waitingFor: [{ field: 'spec.credentials' }] })
  world.cluster.apply(object('Secret', 'later'))
  await advance(1)
  t.match(status('late'), { phase: 'Succeeded' })
})

t.test('so is an object whose kind the cluster does not serve yet', async (t) => {
  const { world, apply, send, advance, status } = lookingWorld()
  const resourceRef = { apiVersion: 'example.com/v1', kind: 'Later', name: 'late', path: 'a.yaml' }
  apply('late', { resourceRef })
  await send('late')
  await advance(5)
  t.match(status('late'), { phase: 'Retrying', attempts: 1 })
  world.cluster.discover = () => Promise.resolve({ plural: 'laters', namespaced: true })
  world.cluster.apply({
    apiVersion: 'example.com/v1',
    kind: 'Later',
    metadata: { name: 'late', namespace: 'team' },
  })
  await advance(10)
  t.match(status('late'), { phase: 'Succeeded', attempts: 2 })
})

t.test('after ten minutes nobody looks any more, and attempts follow', async (t) => {
  const { looked, apply, send, advance, status, isTicking } = lookingWorld()
  apply('late')
  await send('late')
  await advance(611)
  t.notOk(isTicking(), 'no timer is left')
  const looks = looked.length
  t.ok(looks > 60 && looks < 66, `${looks} looks`)
  await send('late')
  t.match(status('late'), { phase: 'Retrying', attempts: 2, nextAttemptTime: /^2026-03-01T10:10:/ })
  await advance(1)
  t.equal(looked.length, looks)
})

t.test('whatever arrives, no object is looked at more often than once a second', async (t) => {
  const { looked, apply, send, advance, status } = lookingWorld()
  apply('late')
  await send('late')
  await advance(20)
  const before = looked.length
  for (let i = 0; i < 100; i += 1) {
    await send('late')
    await advance(0.1)
  }
  t.ok(looked.length - before <= 11, `${looked.length - before} looks in 10 s`)
  t.match(status('late'), { attempts: 1 })
})

t.test('an event for a resource that is looked after reads nothing', async (t) => {
  const { world, read, apply, send } = lookingWorld()
  apply('late')
  await send('late')
  const { metadata } = world.cluster.get('GitCommit', 'team', 'late') ?? {}
  const ref = { ...REF, uid: String(metadata?.uid), generation: 1 }
  read.length = 0
  t.ok(world.looks.ask(ref))
  t.notOk(world.looks.ask({ ...ref, generation: 2 }))
  t.notOk(world.looks.ask({ ...ref, request: '01234567' }))
  t.notOk(world.looks.ask({ ...ref, name: 'other' }))
  t.same(read, [])
})

t.test('a change of the spec starts afresh, and what was looked for is forgotten', async (t) => {
  const { world, looked, apply, send, advance, status } = lookingWorld()
  apply('late')
  await send('late')
  world.cluster.apply(object('ConfigMap', 'now'))
  apply('late', { resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'now', path: 'a.yaml' } })
  await send('late')
  t.match(status('late'), { phase: 'Succeeded', observedGeneration: 2, attempts: 1 })
  world.cluster.apply(object('ConfigMap', 'late'))
  await advance(20)
  t.equal(looked.length, 1, 'one look finds out')
  t.equal(world.pushed.length, 1)
})

t.test('two pods that see the change make one attempt', async (t) => {
  const { world, apply, send, advance, status } = lookingWorld()
  apply('late')
  await send('late')
  const { waitingFor, lastAttemptTime } = status('late')
  t.equal(waitingFor?.length, 1)
  world.land = () => Promise.reject(new Failure('NetworkError', 'No.'))
  world.cluster.apply(object('ConfigMap', 'late'))
  await advance(1)
  t.match(status('late'), { attempts: 2, conditions: [{ reason: 'NetworkError' }] })
  t.not(status('late').lastAttemptTime, lastAttemptTime)
  // The other pod's look was for the attempt before.
  const { handle } = await import('../../functions/attempt/attempt.ts')
  const { finder } = await import('../../functions/attempt/find.ts')
  await handle(REF, finder(world.cluster, { reads: 1, waits: 0 }), world, lastAttemptTime)
  t.match(status('late'), { attempts: 2 })
})

t.test(
  'a Secret that someone has to fix is looked at when asked, and its change starts an attempt',
  async (t) => {
    const { world, looked, apply, send, advance, status, isTicking } = lookingWorld()
    world.cluster.apply(object('ConfigMap', 'late'))
    apply('late')
    world.land = () => Promise.reject(new Failure('AuthenticationFailed', 'No.'))
    await send('late')
    t.match(status('late'), {
      nextAttemptTime: '2026-03-01T10:05:00Z',
      waitingFor: [{ field: 'spec.credentials' }],
    })
    await advance(60)
    t.same(looked, [], 'nobody looks without being asked')
    await send('late')
    await advance(10)
    t.equal(looked.length, 1)
    t.notOk(isTicking())
    t.match(status('late'), { attempts: 1 })
    world.cluster.apply(object('Secret', 'git', 's3cr3t-fixed'))
    await send('late')
    await advance(1)
    t.match(status('late'), { attempts: 2, phase: 'Retrying' })
    t.match(world.pushed.at(-1), { login: { password: 's3cr3t-fixed' } })
    await send('late')
    await advance(5)
    t.match(status('late'), { attempts: 2 }, 'the version that was read now counts')
  },
)

t.test('of two Secrets either one counts', async (t) => {
  const { world, apply, send, advance, status } = lookingWorld()
  world.cluster.apply(object('ConfigMap', 'late'))
  world.cluster.apply(object('Secret', 'spare'))
  apply('late', { fallbackCredentials: { secretName: 'spare', tokenKey: 'token' } })
  world.land = () => Promise.reject(new Failure('PermissionDenied', 'No.'))
  await send('late')
  t.equal(status('late').waitingFor?.length, 2)
  world.cluster.apply(object('Secret', 'spare', 'other'))
  await send('late')
  await advance(2)
  t.match(status('late'), { attempts: 2 })
})

t.test('a status does not tell whether a Secret exists that the requester may not read', async (t) => {
  const statuses = await Promise.all(
    [true, false].map(async (exists) => {
      const { world, apply, send, status } = lookingWorld()
      world.cluster.apply(object('ConfigMap', 'late'))
      world.cluster.mayAccess = (_, { verb, resource }) => resource !== 'secrets' || verb === 'use'
      if (exists) world.cluster.apply(object('Secret', 'hidden'))
      apply('late', { credentials: { secretName: 'hidden', tokenKey: 'token' } })
      await send('late')
      t.match(status('late'), { phase: 'Retrying', conditions: [{ reason: 'ReferenceForbidden' }] })
      return JSON.stringify(status('late'), (key, value: unknown) =>
        key === 'version' ? String(value).replace(/^[0-9a-f]{16}$/, 'a version') : value,
      )
    }),
  )
  t.equal(statuses[0], statuses[1])
  t.match(statuses[0], '"version":"a version"')
})

t.test('while the API server does not answer, looks go on at their pace', async (t) => {
  const stage = lookingWorld()
  stage.apply('late')
  await stage.send('late')
  stage.failing = new Failure('NetworkError', 'No.')
  await stage.advance(30)
  t.equal(stage.looked.length, 5)
  stage.failing = undefined
  stage.world.cluster.apply(object('ConfigMap', 'late'))
  await stage.advance(10)
  t.match(stage.status('late'), { phase: 'Succeeded' })
})

t.test('with thousands of one namespace, another one is looked after in time', async (t) => {
  const { world, looked, apply, send, advance, status } = lookingWorld()
  for (let i = 0; i < 1_000; i += 1) {
    apply(`many-${i}`, {}, 'crowd')
    await send(`many-${i}`, 'crowd')
  }
  world.cluster.apply({ ...object('Secret', 'git'), metadata: { name: 'git', namespace: 'crowd' } })
  apply('late')
  await send('late')
  await advance(60)
  t.ok(looked.length <= 3_000, `${looked.length} looks in 60 s`)
  world.cluster.apply(object('ConfigMap', 'late'))
  await advance(12)
  t.match(status('late'), { phase: 'Succeeded' })
  const of = looked.filter(([name]) => name === 'late').map(([, at]) => Math.round(at))
  t.same(of.slice(0, 8), [1, 3, 7, 15, 25, 35, 45, 55])
})

t.test('with objects of one namespace that hang, another one is looked after in time', async (t) => {
  const stage = lookingWorld()
  const { world, apply, send, looked, advance } = stage
  for (let i = 0; i < 40; i += 1) {
    apply(`hangs-${i}`)
    await send(`hangs-${i}`)
  }
  apply('shop', {}, 'other')
  world.cluster.apply({ ...object('Secret', 'git'), metadata: { name: 'git', namespace: 'other' } })
  await send('shop', 'other')
  const readVersion = world.cluster.readVersion.bind(world.cluster)
  let hanging = 0
  world.cluster.readVersion = (...of) => {
    if (!of[0].name.startsWith('hangs')) return readVersion(...of)
    hanging += 1
    return new Promise(() => undefined)
  }
  await advance(26)
  t.equal(hanging, 4, 'a quarter of the looks that are made at once')
  const times = looked.filter(([name]) => name === 'shop').map(([, at]) => Math.round(at))
  t.same(times, [1, 3, 7, 15, 25])
})

t.test('all that wait for one object cost one look, and are attempted when it is there', async (t) => {
  const { world, looked, apply, send, advance, status } = lookingWorld()
  const resourceRef = { apiVersion: 'v1', kind: 'ConfigMap', name: 'shared', path: 'a.yaml' }
  for (let i = 0; i < 100; i += 1) {
    apply(`one-${i}`, { resourceRef })
    await send(`one-${i}`)
  }
  await advance(60)
  t.equal(looked.length, 8)
  world.cluster.apply(object('ConfigMap', 'shared'))
  await advance(12)
  for (let i = 0; i < 100; i += 1) t.match(status(`one-${i}`), { phase: 'Succeeded' }, `one-${i}`)
})

t.test('those whose attempts fail again with each change of what they wait for have a pace', async (t) => {
  const { world, apply, send, advance, status } = lookingWorld({ isPaced: true })
  const files = ['one', 'two'].map((name) => ({
    path: `${name}.yaml`,
    resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name },
  }))
  const names = Array.from({ length: 100 }, (_, index) => `both-${index}`)
  const all = names.map((name) => {
    apply(name, { resourceRef: undefined, files })
    return send(name)
  })
  await advance(60)
  await Promise.all(all)
  const attempts = (): number => names.reduce((sum, name) => sum + (status(name).attempts ?? 0), 0)
  const before = attempts()
  t.equal(before, 100)
  // One of both is always missing.
  for (let change = 0; change < 60; change += 1) {
    const [there, missing] = change % 2 === 0 ? ['one', 'two'] : ['two', 'one']
    world.cluster.remove('ConfigMap', 'team', missing)
    world.cluster.apply(object('ConfigMap', there))
    await advance(1)
  }
  const made = attempts() - before
  t.ok(made >= 60 && made <= 500, `attempts in a minute: ${made}`)
  world.cluster.apply(object('ConfigMap', 'one'))
  world.cluster.apply(object('ConfigMap', 'two'))
  await advance(60)
  t.equal(world.pushed.length, 100, 'all are made once nothing is missing')
})

t.test('closing waits for the attempts that it has started, and starts no other', async (t) => {
  const { world, looks, apply, send, advance, status } = lookingWorld()
  apply('late')
  await send('late')
  const landed = Promise.withResolvers<Awaited<ReturnType<typeof world.land>>>()
  world.land = () => landed.promise
  world.cluster.apply(object('ConfigMap', 'late'))
  await advance(1)
  t.match(status('late'), { phase: 'Progressing' })
  let isClosed = false
  const closing = looks.close().then(() => (isClosed = true))
  await settled()
  t.notOk(isClosed)
  landed.resolve({ outcome: 'pushed', sha: 'a'.repeat(40), branch: 'main' })
  await closing
  t.match(status('late'), { phase: 'Succeeded' })
  apply('other')
  await send('other')
  await advance(5)
  t.match(status('other'), { attempts: 1 })
})
