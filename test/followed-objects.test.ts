import t from 'tap'
import type { OtherObject } from '../functions/domain/event/hint.ts'
import { keyOf, openFollowedObjects, type ChangedObjects } from '../functions/followed-objects.ts'

const FOLLOWER = { namespace: 'shop', uid: 'a', generation: 1 }

function inside(...objects: readonly OtherObject[]): ChangedObjects {
  return { areOfOneNamespace: true, keys: new Set(objects.map(keyOf)) }
}

function anywhere(...objects: readonly OtherObject[]): ChangedObjects {
  return { areOfOneNamespace: false, keys: new Set(objects.map(keyOf)) }
}

t.test('a follower may refer to anything until it was looked at, and again with another spec', async (t) => {
  const { note, mayFollow } = openFollowedObjects()
  const other = inside({ namespace: 'shop', name: 'other' })
  t.ok(mayFollow(FOLLOWER, other))
  note(FOLLOWER, () => [{ namespace: 'shop', name: 'settings' }])
  t.notOk(mayFollow(FOLLOWER, other))
  t.ok(mayFollow(FOLLOWER, inside({ namespace: 'shop', name: 'settings' }, { namespace: 'shop', name: 'b' })))
  t.ok(mayFollow(FOLLOWER, { areOfOneNamespace: true, keys: 'any' }))
  t.ok(mayFollow({ ...FOLLOWER, generation: 2 }, other))
  t.ok(mayFollow({ ...FOLLOWER, uid: 'b' }, other), 'another one of its name')
})

t.test('what a spec refers to is read once', async (t) => {
  const { note } = openFollowedObjects()
  let read = 0
  const objects = (): readonly OtherObject[] => ((read += 1), [])
  for (const generation of [1, 1, 2, 2]) note({ ...FOLLOWER, generation }, objects)
  t.equal(read, 2)
})

t.test('an object of another namespace, or of none, is told of by the search of all', async (t) => {
  const { note, mayFollow } = openFollowedObjects()
  note(FOLLOWER, () => [
    { namespace: 'shop', name: 'own' },
    { namespace: 'platform', name: 'shared' },
  ])
  t.ok(mayFollow(FOLLOWER, anywhere({ namespace: 'platform', name: 'shared' })))
  t.ok(mayFollow(FOLLOWER, anywhere({ name: 'own' })), 'the kind may have no namespaces')
  t.notOk(mayFollow(FOLLOWER, anywhere({ namespace: 'attacker', name: 'shared' })))
  t.notOk(
    mayFollow(FOLLOWER, anywhere({ namespace: 'shop', name: 'own' })),
    'the search of its namespace finds it',
  )
})

t.test('very many followers of one namespace leave others what is known of theirs', async (t) => {
  const { note, mayFollow } = openFollowedObjects()
  const objects = Array.from({ length: 100 }, (_, index) => ({ namespace: 'busy', name: `${index}` }))
  const other = inside({ namespace: 'shop', name: 'other' })
  note(FOLLOWER, () => [{ namespace: 'shop', name: 'settings' }])
  for (let uid = 0; uid < 7_000; uid += 1)
    note({ namespace: 'busy', uid: `${uid}`, generation: 1 }, () => objects)
  t.notOk(mayFollow(FOLLOWER, other))
  t.ok(mayFollow({ namespace: 'busy', uid: '0', generation: 1 }, other), 'the oldest is forgotten')
  t.notOk(mayFollow({ namespace: 'busy', uid: '6999', generation: 1 }, other))
})
