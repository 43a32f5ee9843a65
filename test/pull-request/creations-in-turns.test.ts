import t from 'tap'
import { CALL_MS, part, stage, type Opening } from './creations-stage.ts'

/** Of a call at large repositories. */
const LONG_CALL_MS = 3_000
const EVERY_MS = 5_000
/** By then it is known who takes much. */
const AFTER_MS = 10_000

interface Took {
  /** With the token that ten namespaces share with them, of five that open one per 5 s. */
  readonly sharing: readonly number[]
  /** With a token of its own, of one that opens one per 5 s. */
  readonly own: readonly number[]
}

/** What openings take in five minutes, beside what ten namespaces with the shared token do. */
async function openingsBeside(openings: (n: number) => readonly Opening[]): Promise<Took> {
  const { again, goOn } = stage()
  for (let n = 0; n < 10; n += 1) for (const opening of openings(n)) again(opening)
  const own = again(
    { owner: 'own', token: 'own', at: 'own', callMs: CALL_MS },
    { afterMs: AFTER_MS, everyMs: EVERY_MS },
  )
  const sharing = Array.from({ length: 5 }, (_, n) => {
    const opening = { owner: `team-${n}`, token: 'shared', at: `team-${n}`, callMs: CALL_MS }
    return again(opening, { afterMs: AFTER_MS + n * 1_000, everyMs: EVERY_MS })
  })
  await goOn(300_000)
  return { sharing: sharing.flat(), own }
}

/** At large repositories of its own. */
function slow(n: number, at: string, more: Partial<Opening> = {}): Opening {
  return { owner: `evil-${n}`, token: 'shared', at: `${at}-${n}`, callMs: LONG_CALL_MS, ...more }
}

for (const { title, openings, most } of [
  {
    title: 'creations with calls of 3 s at ten namespaces do not come before those of who has taken less',
    openings: (n: number) => [slow(n, 'one'), slow(n, 'two')],
    most: 7_000,
  },
  {
    title:
      'creations that have waited for a share of the thread do not come before those of who has taken less',
    openings: (n: number) => ['one', 'two'].map((at) => slow(n, at, { reserveMs: 50 })),
    most: 7_000,
  },
  {
    title: 'of those for which others may wait with another token, one comes before them at a time',
    openings: (n: number) =>
      ['shared', 'shared', `evil-${n}`, `evil-${n}`].map((token) => slow(n, 'one', { token })),
    most: 15_000,
  },
])
  t.test(title, async (t) => {
    const { sharing } = await openingsBeside(openings)
    t.ok(sharing.length >= 250, String(sharing.length))
    // A turn ends every 3 s, or sooner.
    t.ok(part(sharing, 50) <= LONG_CALL_MS, String(part(sharing, 50)))
    t.ok(part(sharing, 90) <= 2 * LONG_CALL_MS, String(part(sharing, 90)))
    t.ok(part(sharing, 100) <= most, String(part(sharing, 100)))
  })

t.test(
  'creations with a token that is busy keep those of another token at the same branches from little',
  async (t) => {
    const named = (n: number): Opening => slow(n, 'two', { at: 'own', callMs: CALL_MS })
    const { own } = await openingsBeside((n) => [slow(n, 'one'), named(n)])
    t.ok(own.length >= 58, String(own.length))
    t.ok(part(own, 50) <= 4 * CALL_MS, String(part(own, 50)))
    t.ok(Math.max(...own) <= 2 * LONG_CALL_MS, String(Math.max(...own)))
  },
)

t.test(
  'calls of 12 s at ten namespaces keep others with the same token from little, also before it is known who takes much',
  async (t) => {
    const { again, goOn, calls } = stage()
    const evil = { token: 'shared', callMs: 12_000 }
    for (let n = 0; n < 10; n += 1)
      for (const at of ['one', 'two', 'three']) again({ ...evil, owner: `evil-${n}`, at: `${at}-${n}` })
    const took = Array.from({ length: 5 }, (_, n) => {
      const opening = { owner: `team-${n}`, token: 'shared', at: `team-${n}`, callMs: CALL_MS }
      return again(opening, { afterMs: n * 1_000, everyMs: EVERY_MS })
    })
    await goOn(60_000)
    const sharing = took.flat()
    t.ok(sharing.length >= 45, String(sharing.length))
    t.ok(part(sharing, 50) <= 1_000, String(part(sharing, 50)))
    t.ok(part(sharing, 90) <= 5_000, String(part(sharing, 90)))
    t.ok(calls.most <= 16, String(calls.most))
    calls.most = 0
    await goOn(300_000)
    t.ok(calls.most <= 10, String(calls.most))
    t.ok(part(took.flat(), 90) <= 2_000, String(part(took.flat(), 90)))
  },
)
