import { errorLogFields, reasonOf } from '../../domain/error-log-fields.ts'
import type { Kind } from '../../domain/resource/api-names.ts'
import { PLURALS } from '../../domain/resource/api-names.ts'
import type { Sweeper } from './announce.ts'
import type { Sweep } from './due.ts'

/** Keeps the failures of one round from ending the sweeps. */
export interface Guard {
  /** Does some work of a kind. Where it fails, that is logged, and the answer is undefined; it never rejects. */
  readonly guarded: <T>(kind: Kind, work: () => Promise<T>) => Promise<T | undefined>
  /** The kind of each work that has failed so far. */
  readonly failed: readonly Kind[]
}

/** Makes the guard of one round. */
export function guardRound({ log }: Pick<Sweeper, 'log'>, sweep: Sweep): Guard {
  const failed: Kind[] = []

  async function guarded<T>(kind: Kind, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work()
    } catch (error) {
      const fields = {
        sweep,
        resources: PLURALS[kind],
        reason: reasonOf(error),
        origin: errorLogFields(error),
      }
      log.warn(fields, 'a sweep failed; the next one continues')
      failed.push(kind)
      return undefined
    }
  }

  return { guarded, failed }
}
