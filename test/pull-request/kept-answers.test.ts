import t, { type Test } from 'tap'
import type { PullRequests } from '../../functions/domain/pull-request/pull-requests.ts'
import type { HostAnswer } from '../harness/hosts/dialect.ts'
import { dialectOf } from '../providers/contract/rows.ts'
import { BRANCHES, DRAFT, startPort } from '../providers/port-stage.ts'

/** Hosts, and how each is asked to change a pull request. */
const HOSTS = [
  ['github', 'PATCH'],
  ['gitlab', 'PUT'],
  ['bitbucket', 'PUT'],
  ['gitea', 'PATCH'],
] as const
const TEXT = { title: 'Settings', body: 'Other text.' }

/** So many values in lists of a hundred, and those of each element of a list. */
function withValues(count: number): (answer: HostAnswer) => HostAnswer {
  const lists = Array.from({ length: count / 100 }, (_, i) => [`field_${i}`, Array(100).fill(i)])
  const more = Object.fromEntries(lists)
  const added = (value: unknown): unknown =>
    Array.isArray(value) ? value.map(added) : { ...(value as object), ...more }
  return (answer) => ({ ...answer, body: added(answer.body) })
}

/** A host whose answers to requests with this method have something more, apart from the first `but`. */
async function stage(t: Test, name: string, change: (answer: HostAnswer) => HostAnswer) {
  const dialect = await dialectOf(name)
  if (dialect === undefined) throw new Error('There is no such host.')
  const staged = await startPort(t, { dialect, name })
  return {
    ...staged,
    more: (method: string, times = 1): void => {
      for (let i = 0; i < times; i += 1)
        staged.host.fail({ kind: 'changed', change }, (its) => its === method)
    },
  }
}

/** Changes the text of the one that is open. */
async function update(pulls: PullRequests): Promise<void> {
  const [shown] = await pulls.find(BRANCHES, 'open')
  if (shown !== undefined) await pulls.update(shown, TEXT)
}

t.test('answers to a change have fifty thousand values at most, and those to a search more', async (t) => {
  for (const [name, updating] of HOSTS) {
    await t.test(name, async (t) => {
      const { more, failure, work, model } = await stage(t, name, withValues(50_000))
      const refused = { name: 'Failure', reason: 'ProviderUnavailable' }
      more('POST')
      t.match(await failure((pulls) => pulls.create(DRAFT)), refused)
      t.equal(model.pulls.length, 1, 'it has been created')
      more('GET')
      t.match(await work((pulls) => pulls.find(BRANCHES, 'open')), [{ number: 1 }])
      more(updating)
      t.match(await failure(update), refused)
      await work(update)
      t.match(model.pulls, [TEXT])
    })
  }
})

t.test('no pull request is too long to be created or changed', async (t) => {
  // A hundred labels with ten fields, 150 people with 25, and a body that is shown five times.
  const long = withValues(100 * 10 + 150 * 25 + 50)
  const bodies = Array.from({ length: 5 }, () => '\u0001'.repeat(65_536))
  const change = (answer: HostAnswer): HostAnswer => {
    const { body, ...rest } = long(answer)
    return { ...rest, body: Array.isArray(body) ? body : { ...(body as object), bodies } }
  }
  for (const [name, updating] of HOSTS) {
    await t.test(name, async (t) => {
      const { more, work, model } = await stage(t, name, change)
      more('GET')
      more('POST')
      t.match(await work((pulls) => pulls.create(DRAFT)), { number: 1 })
      more('GET', 2)
      more(updating)
      await work(update)
      t.match(model.pulls, [TEXT])
    })
  }
})
