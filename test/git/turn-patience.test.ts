import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { enterPatiently } from '../../functions/git/turn-patience.ts'

t.test(
  'who has waited for long enough by the time that it looks goes at once, without a warning',
  async (t) => {
    const warnings: Error[] = []
    const note = (warning: Error): void => void warnings.push(warning)
    process.on('warning', note)
    t.teardown(() => process.off('warning', note))
    let now = 0
    let passed = 0
    // A busy process looks long after it wanted to.
    function passedAt(): number {
      now = 1_000
      return 1
    }
    const pass = (): void => void (passed += 1)
    const leaving = new AbortController().signal
    const entered = await enterPatiently(until, { mostMs: 10, passedAt, pass, elapsed: () => now, leaving })
    t.equal(entered, undefined)
    t.equal(passed, 1)
    // Warnings are emitted after what caused them.
    await setImmediate()
    t.same(warnings, [])
  },
)

/** Rejects once the signal fires. */
function until(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal.addEventListener('abort', () => reject(new Error('over')))
  })
}
