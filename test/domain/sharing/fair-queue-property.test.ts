import t from 'tap'
import { openFairQueue, type Leave } from '../../../functions/domain/sharing/fair-queue.ts'
import { countExcess, countInProportion, FEW } from '../../../functions/domain/sharing/taken-time.ts'
import type { Rank } from '../../../functions/domain/sharing/waiting-line.ts'
import fc from '../../harness/fast-check.ts'
import { sized } from '../../harness/sample.ts'

/** One step of a run. `which` chooses among those that there are. */
type Step =
  | { readonly do: 'enter'; readonly owner: string; readonly rank: Rank }
  | {
      readonly do: 'leave' | 'leave while others give up' | 'give up' | 'lend' | 'go on'
      readonly which: number
    }
  | { readonly do: 'wait'; readonly ms: number }
  | { readonly do: 'hand over' }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      do: fc.constant('enter' as const),
      owner: fc.constantFrom('a', 'b', 'c'),
      rank: fc.constantFrom<Rank>('last', 'first of its owner', 'first'),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      do: fc.constantFrom('leave', 'leave while others give up', 'give up', 'lend', 'go on'),
      which: fc.nat(),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat({ max: 20_000 }) }) },
  { weight: 2, arbitrary: fc.constant({ do: 'hand over' as const }) },
)

const terms = fc.record({
  places: fc.integer({ min: 1, max: 3 }),
  spare: fc.boolean(),
  lent: fc.integer({ min: 0, max: 3 }),
  isLate: fc.boolean(),
  counts: fc.constantFrom('excess', 'in proportion'),
})

/** Who has come. */
interface Comer {
  readonly owner: string
  readonly patience: AbortController
  leave?: Leave
  isLent: boolean
  isGone: boolean
}

/** All that follows without a turn of the event loop. */
async function settle(): Promise<void> {
  await new Promise(setImmediate)
}

t.test(
  'no place is lost or given twice, whoever gives up and whenever, and none is free while somebody waits',
  async (t) => {
    const property = fc.asyncProperty(
      terms,
      fc.array(step, { maxLength: 60, size: 'max' }),
      async (given, steps) => {
        const { places, spare, lent, isLate, counts } = given
        const most = places + Math.max(lent, spare ? 1 : 0)
        let now = 0
        const elapsed = (): number => now
        const handing: (() => void)[] = []
        const queue = openFairQueue(places, {
          elapsed,
          spare,
          ...(lent > 0 ? { most: places + lent } : {}),
          ...(isLate ? { handOver: (next: () => void) => void handing.push(next) } : {}),
          taken: counts === 'excess' ? countExcess(FEW, elapsed) : countInProportion(100),
        })
        const comers: Comer[] = []
        const having = (): Comer[] => comers.filter(({ leave, isGone }) => leave !== undefined && !isGone)
        const waiting = (): Comer[] => comers.filter(({ leave, isGone }) => leave === undefined && !isGone)

        function enter(owner: string, rank: Rank): void {
          const comer: Comer = { owner, patience: new AbortController(), isLent: false, isGone: false }
          comers.push(comer)
          queue.enter(owner, comer.patience.signal, rank).then(
            (leave) => void (comer.leave = leave),
            () => void (comer.isGone = true),
          )
        }

        function lend(comer: Comer | undefined): void {
          if (comer === undefined) return
          comer.isLent = true
          comer.leave?.lend()
        }

        function leave(comer: Comer | undefined): void {
          if (comer === undefined) return
          comer.isGone = true
          comer.leave?.()
          comer.leave?.()
        }

        function take(one: Step): void {
          if (one.do === 'enter') enter(one.owner, one.rank)
          else if (one.do === 'wait') now += one.ms
          else if (one.do === 'hand over') handing.shift()?.()
          else {
            const [held, waits] = [having(), waiting()]
            const comer = held[one.which % held.length]
            if (one.do === 'lend') lend(comer)
            else if (one.do === 'go on') queue.mayGoOn(comer?.owner ?? 'a')
            else if (one.do === 'give up') waits[one.which % waits.length]?.patience.abort()
            else leave(comer)
            if (one.do === 'leave while others give up')
              for (const { patience } of waits.filter((_, i) => (one.which >> i) % 2 === 0)) patience.abort()
          }
        }

        async function check(): Promise<void> {
          await settle()
          const held = having().length
          if (held > most) throw new Error(`${held} have a place, of ${most}`)
          const kept = having().filter(({ isLent }) => !isLent).length
          if (kept > places + (spare ? 1 : 0))
            throw new Error(`${kept} have a place that is not lent, of ${places}`)
          if (handing.length > 0) return
          if (held < places && waiting().length > 0) throw new Error('somebody waits where there is room')
          if (queue.hasRoom() !== held < places)
            throw new Error(`${held} of ${places}, hasRoom ${queue.hasRoom()}`)
        }

        for (const one of steps) {
          take(one)
          await check()
        }
        while (having().length > 0 || handing.length > 0) {
          for (const next of handing.splice(0)) next()
          leave(having()[0])
          await check()
        }
        if (waiting().length > 0) throw new Error('somebody waits at the end')
        for (let i = 0; i < places; i += 1) enter('z', 'last')
        await settle()
        if (having().length !== places) throw new Error(`${having().length} places are left of ${places}`)
      },
    )
    await t.resolves(fc.assert(property, { numRuns: sized(200, 5_000) }))
  },
)
