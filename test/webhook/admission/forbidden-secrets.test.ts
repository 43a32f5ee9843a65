import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import type { FailureReason } from '../../../functions/domain/reasons.ts'
import { rememberForbidden } from '../../../webhook/admission/forbidden-secrets.ts'

/** An API server that fails for this reason, a clock, and the requested names. */
function failing(reason: FailureReason) {
  const asked: string[] = []
  const clock = { now: 1_000 }
  const read = rememberForbidden(
    (namespace, name) => {
      asked.push(`${namespace}/${name}`)
      return Promise.reject(new Failure(reason, 'No.'))
    },
    () => clock.now,
  )
  return { read, asked, clock }
}

t.test('a Secret that may not be read is not requested again within 10 s', async (t) => {
  const { read, asked, clock } = failing('ReferenceForbidden')
  await t.rejects(read('shop', 'git'), { message: 'No.' })
  clock.now += 10_000
  await t.rejects(read('shop', 'git'), { message: 'No.' })
  t.same(asked, ['shop/git'])
  clock.now += 1
  await t.rejects(read('shop', 'git'), { message: 'No.' })
  t.same(asked, ['shop/git', 'shop/git'], 'a right that was given since then counts')
})

t.test('another name and another namespace are requested', async (t) => {
  const { read, asked } = failing('ReferenceForbidden')
  for (const [namespace, name] of [
    ['shop', 'git'],
    ['shop', 'git-2'],
    ['team', 'git'],
  ] as const)
    await t.rejects(read(namespace, name))
  t.same(asked, ['shop/git', 'shop/git-2', 'team/git'])
})

for (const reason of ['ReferenceNotFound', 'Timeout'] as const) {
  t.test(`${reason} is not remembered`, async (t) => {
    const { read, asked } = failing(reason)
    await t.rejects(read('shop', 'git'), { message: 'No.' })
    await t.rejects(read('shop', 'git'), { message: 'No.' })
    t.equal(asked.length, 2)
  })
}

t.test('a Secret is read again each time', async (t) => {
  let count = 0
  const read = rememberForbidden(
    async (namespace, name) => {
      count += 1
      return { namespace, name, type: 'Opaque', version: '1', annotations: {}, data: new Map() }
    },
    () => 0,
  )
  t.equal((await read('shop', 'git')).name, 'git')
  await read('shop', 'git')
  t.equal(count, 2)
})

t.test('of more than 4,096 names the oldest is forgotten', async (t) => {
  const { read, asked } = failing('ReferenceForbidden')
  for (let index = 0; index <= 4_096; index += 1) await read('shop', `git-${index}`).catch(() => undefined)
  const before = asked.length
  await read('shop', 'git-1').catch(() => undefined)
  t.equal(asked.length, before)
  await read('shop', 'git-0').catch(() => undefined)
  t.equal(asked.length, before + 1)
})
