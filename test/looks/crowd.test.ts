import { createSecretKey } from 'node:crypto'
import t from 'tap'
import { setImmediate as nextTurn } from 'node:timers/promises'
import pino from 'pino'
import type { Envelope } from '../../functions/domain/resource/resource.ts'
import { versionOf } from '../../functions/domain/resource/waiting.ts'
import { parse } from '../../functions/domain/schema/parse.ts'
import { openLooks } from '../../functions/looks/looks.ts'
import { cpuTime } from '../harness/cpu-time.ts'
import { allowedMs } from '../harness/growth.ts'
import { gitCommit } from '../harness/memory-world.ts'

/** What one namespace alone may have looked after. */
const MANY = 12_000
/** More turns than all of them are told in: a turn may take hardly any time. */
const IDLE_TURNS = 120
const KEY = createSecretKey(new Uint8Array(48))
const FIELD = 'spec.resourceRef'
const START = Date.parse('2026-03-01T10:00:00Z')
const PARSED = parse(gitCommit())

function waiting(index: number): Envelope {
  const uid = `uid-${index}`
  return {
    kind: 'GitCommit',
    metadata: { name: `r-${index}`, namespace: 'team', uid, generation: 1, resourceVersion: '1' },
    status: {
      observedGeneration: 1,
      phase: 'Retrying',
      startedAt: '2026-03-01T10:00:00Z',
      lastAttemptTime: '2026-03-01T10:00:00.5Z',
      nextAttemptTime: '2026-03-01T10:10:00Z',
      waitingFor: [{ field: FIELD, version: versionOf(FIELD, 'missing', { uid, key: KEY }) }],
      conditions: [
        {
          type: 'Ready',
          observedGeneration: 1,
          status: 'False',
          reason: 'ReferenceNotFound',
          message: 'There is none.',
          lastTransitionTime: '2026-03-01T10:00:00Z',
        },
      ],
    },
  }
}

t.test(
  'very many resources that wait for one object are told of it in turns of the event loop',
  async (t) => {
    let state = 'missing'
    let ms = 0
    let tick = (): void => undefined
    let woken = 0
    const looks = openLooks({
      cluster: {
        discover: () => Promise.resolve({ plural: 'configmaps', namespaced: true }),
        readVersion: () => Promise.resolve(state),
      },
      wake() {
        woken += 1
        return Promise.resolve()
      },
      now: () => new Date(START + ms),
      elapsed: () => ms,
      every(_, work) {
        tick = work
        return () => undefined
      },
      stampKey: KEY,
      log: pino({ level: 'silent' }),
    })
    for (let i = 0; i < MANY; i += 1) looks.add(waiting(i), PARSED, false)

    /** The longest that one turn takes after a look, until nothing happens any more. */
    async function longestTurn(): Promise<number> {
      ms += 10_500
      tick()
      let longest = 0
      let idle = 0
      while (idle < IDLE_TURNS) {
        const before = cpuTime()
        await nextTurn()
        const took = cpuTime() - before
        longest = Math.max(longest, took)
        idle = took < 0.5 ? idle + 1 : 0
      }
      return longest
    }

    const first = await longestTurn()
    t.ok(first < allowedMs(10), `${first} ms while it is missing`)
    t.equal(woken, 0)
    state = 'uid/5'
    const second = await longestTurn()
    t.ok(second < allowedMs(10), `${second} ms when it is there`)
    t.equal(woken, MANY)
  },
)
