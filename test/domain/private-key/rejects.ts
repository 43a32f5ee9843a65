import t from 'tap'
import { readPrivateKey } from '../../../functions/domain/private-key/private-key.ts'
import { cpuTime } from '../../harness/cpu-time.ts'
import { allowedMs } from '../../harness/growth.ts'
import { failureOf } from '../fixtures/thrown.ts'

/** By what a refusal may take. */
const MOST_MS = allowedMs(5)

/** Tests that this text is refused with such a sentence, and at once. */
export function rejects(title: string, text: string, says: RegExp): void {
  t.test(`${title}: refused at once`, async (t) => {
    const before = cpuTime()
    const failure = failureOf(() => readPrivateKey(Buffer.from(text), { secret: 'shop/git', key: '"key"' }))
    const took = cpuTime() - before
    t.match(failure, { reason: 'CredentialsInvalid', message: says })
    t.match(failure.message, /^The key "key" of the Secret shop\/git [^\n]*[^.]\.$/)
    t.ok(took < MOST_MS, `${took.toFixed(1)} ms`)
  })
}

export const BROKEN = /is cut off or damaged/
export const UNSUPPORTED = /of a type that SSH does not support/
