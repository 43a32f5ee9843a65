import t from 'tap'
import { COUNTED, isDrawn, LONG, sample, SEED, seedOf, sized } from './sample.ts'

const CASES = ['a1', 'a2', 'a3', 'b1', 'c1', 'c2'] as const

function drawn(env: Readonly<Record<string, string>>): readonly string[] {
  return within(env, () => [...sample(CASES, ([row = '']) => row), String(sized(2, 9))])
}

function within<T>(env: Readonly<Record<string, string>>, work: () => T): T {
  const before = [COUNTED, LONG, SEED].map((name) => [name, process.env[name]] as const)
  for (const [name] of before) Reflect.deleteProperty(process.env, name)
  Object.assign(process.env, env)
  try {
    return work()
  } finally {
    for (const [name, value] of before) {
      Reflect.deleteProperty(process.env, name)
      if (value !== undefined) process.env[name] = value
    }
  }
}

t.test('a sample has each row once, in order, the same for the same seed', (t) => {
  const seeds = Array.from({ length: 50 }, (_, seed) => String(seed))
  for (const seed of seeds) {
    t.match(drawn({ [SEED]: seed }).join(' '), /^a\d b1 c\d 2$/, seed)
    t.same(drawn({ [SEED]: seed }), drawn({ [SEED]: seed }))
  }
  const seen = new Set(seeds.flatMap((seed) => drawn({ [SEED]: seed })))
  t.equal(seen.size, CASES.length + 1, 'in the end each case gets its turn')
  t.end()
})

t.test('where lines are counted, a sample has one or two of each row', (t) => {
  const samples = Array.from({ length: 50 }, (_, seed) => drawn({ [COUNTED]: 'yes', [SEED]: String(seed) }))
  for (const one of samples) t.match(one.join(' '), /^(a\d ){1,2}b1 (c\d ){1,2}2$/)
  t.ok(samples.some(({ length }) => length === 6))
  t.end()
})

t.test('everything runs in a long run, and without test/run.ts', (t) => {
  t.same(drawn({ [LONG]: 'yes', [SEED]: '1' }), [...CASES, '9'])
  t.same(drawn({}), [...CASES, '2'])
  t.end()
})

t.test('of many cases every third is drawn, others with another seed, and all of them in a long run', (t) => {
  const cases = Array.from({ length: 300 }, (_, i) => `case ${i}`)
  const drawnBy = (env: Readonly<Record<string, string>>) =>
    within(env, () => cases.filter((title) => isDrawn(title, 3)))
  const [one, other] = [drawnBy({ [SEED]: '1' }), drawnBy({ [SEED]: '2' })]
  for (const { length } of [one, other]) t.ok(length > 60 && length < 140, `${length} of 300`)
  t.strictNotSame(one, other)
  t.strictSame(drawnBy({ [SEED]: '1' }), one)
  for (const env of [{}, { [LONG]: 'yes', [SEED]: '1' }]) t.strictSame(drawnBy(env), cases)
  t.end()
})

t.test('a seed draws the same random inputs again, and without one they are others each time', (t) => {
  const drawnBy = (seed: string) => within({ [SEED]: seed }, () => seedOf('fast-check').seed)
  t.type(drawnBy('1'), 'number')
  t.equal(drawnBy('1'), drawnBy('1'))
  t.not(drawnBy('1'), drawnBy('2'))
  t.strictSame(
    within({}, () => seedOf('fast-check')),
    {},
  )
  t.end()
})
