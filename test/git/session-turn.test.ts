import t from 'tap'
import { turnOfBatch } from '../../functions/git/session-turn.ts'
import type { RoundReport } from '../../functions/git/writer/round.ts'
import { changeOf } from './stage.ts'

const NEVER = new AbortController().signal

t.test('what a session waits for without its turn is no time of a round', async (t) => {
  const [asked, rounds] = [[] as string[][], [] as number[]]
  const waits = Promise.withResolvers<undefined>()
  const changes = ['a', 'b'].map((namespace) => ({
    change: changeOf('https://git.example.com/acme/shop.git', 'a.md', { namespace }),
  }))
  const { turn, roundEnded } = turnOfBatch(
    {
      endTurn: () => undefined,
      async takeTurn(namespaces) {
        asked.push([...namespaces])
        await waits.promise
      },
      roundEnded: ({ milliseconds }) => void rounds.push(milliseconds),
    },
    () => changes as never,
  )
  const round: RoundReport = {
    tip: undefined,
    head: undefined,
    raced: false,
    refused: false,
    milliseconds: 60_000,
    namespaces: new Set(['a', 'b']),
  }
  const began = performance.now()
  turn.end()
  const again = turn.again(NEVER)
  t.same(asked, [['a', 'b']], 'any of those that are in the batch')
  setTimeout(() => waits.resolve(undefined), 20)
  await again
  const longest = performance.now() - began
  roundEnded(round)
  roundEnded(round)
  const [first = 0, second] = rounds
  t.ok(first < 60_000 - 15 && first >= 60_000 - longest, `${first} ms`)
  t.equal(second, 60_000, 'a later round has not waited')
})
