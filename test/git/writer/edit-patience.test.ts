import { mock } from 'node:test'
import t from 'tap'
import { SHARED_EDITS_MS, waitForEdits } from '../../../functions/git/writer/edit-patience.ts'
import { changeOf } from '../stage.ts'

const URL = 'https://git.example.com/acme/shop.git'

function changeIn(namespace: string, edits = true): ReturnType<typeof changeOf> {
  const file = {
    path: 'a.yaml',
    ...(edits ? { edit: async () => undefined } : { content: Buffer.from('a') }),
  }
  return changeOf(URL, 'a.yaml', { namespace, files: [file as never] })
}

/** After how many milliseconds a push of so many namespaces waits no more for the edits of each, none of which ends. */
async function patienceWith(namespaces: number): Promise<number> {
  const names = Array.from({ length: namespaces }, (_, i) => `team-${i}`)
  const batch = [...names.map((name) => changeIn(name)), changeIn('plain', false)].map((change) => ({
    change,
  }))
  const { within } = waitForEdits(batch, SHARED_EDITS_MS)
  let waited = 0
  for (const { change } of batch.slice(0, -1)) {
    const planned = within(change, () => new Promise<never>(() => undefined))
    let seen: unknown
    void planned.then((plan) => (seen = plan))
    for (; seen === undefined; waited += 10) {
      mock.timers.tick(10)
      await new Promise(setImmediate)
    }
    t.equal(await planned, 'slow')
  }
  return waited
}

t.test('a push waits for the edits of each namespace, and of many for a second in all', async (t) => {
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  for (const [namespaces, most] of [
    [1, 500],
    [2, 1_000],
    [10, 1_000],
    [40, 2_000],
  ] as const)
    t.equal(await patienceWith(namespaces), most)
})
