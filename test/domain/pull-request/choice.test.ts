import t from 'tap'
import { chosen, keepFor } from '../../../functions/domain/pull-request/choice.ts'
import { LONGEST_BODY, marked } from '../../../functions/domain/pull-request/marker.ts'
import type { ShownPullRequest } from '../../../functions/domain/pull-request/pull-requests.ts'
import { cpuTime } from '../../harness/cpu-time.ts'
import { allowedMs } from '../../harness/growth.ts'

const UID = '2f1c2a6e-7c55-4a0e-9d5b-0d8f0a1b2c3d'

/** Newest first, one for each letter: O and C for own ones that are open or closed, o and c for those of others. */
function list(letters: string): readonly ShownPullRequest[] {
  return Array.from(letters, (letter, index) => ({
    number: letters.length - index,
    url: 'https://git.example.com/acme/shop/pulls/1',
    title: 'Settings',
    body: letter < 'a' ? marked({ title: 'Settings', body: 'Text.' }, UID).body : 'Text.',
    state: letter.toLowerCase() === 'o' ? 'open' : 'closed',
  }))
}

const LISTS: readonly (readonly [list: string, chosen: number | undefined, kept: readonly number[]])[] = [
  ['', undefined, []],
  ['ccc', undefined, [3]],
  ['cco', 1, [3, 1]],
  ['coo', 2, [3, 2]],
  ['coC', 1, [3, 2, 1]],
  ['coCOO', 2, [5, 4, 3, 2]],
  ['OC', 2, [2]],
]

for (const [letters, number, kept] of LISTS) {
  t.test(`of "${letters}" number ${number} is chosen, however it is cut into pages`, async (t) => {
    const whole = list(letters)
    t.equal(chosen(whole, UID)?.number, number)
    const keep = keepFor(UID)
    const read = whole.reduce<readonly ShownPullRequest[]>((found, next) => keep([...found, next]), [])
    t.equal(chosen(read, UID)?.number, number)
    t.strictSame(
      keep(whole).map((one) => one.number),
      kept,
    )
  })
}

t.test('the markers of thirty of the longest bodies are looked for at once', async (t) => {
  const line = '[commitlet:a:0123456789abcdef]: #\n'
  const parts = [
    line,
    '[commitlet:\n',
    `[commitlet:${'a'.repeat(64)}\n`,
    `${line.trimEnd()}${'\t'.repeat(60_000)}x\n`,
  ]
  for (const part of parts) {
    const body = part.repeat(Math.floor(LONGEST_BODY / part.length))
    const [pull] = list('c')
    const page = Array.from({ length: 30 }, () => ({ ...pull, body }) as ShownPullRequest)
    const start = cpuTime()
    t.equal(keepFor(UID)(page).length, 1)
    t.ok(cpuTime() - start < allowedMs(50), part.slice(0, 20))
  }
})
