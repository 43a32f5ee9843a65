import { keepFor } from '../../../functions/domain/pull-request/choice.ts'
import { marked, readMarker } from '../../../functions/domain/pull-request/marker.ts'
import { addPull } from '../../harness/hosts/model.ts'
import type { HostModel, ModelPull } from '../../harness/hosts/model.ts'
import type { Case } from './case.ts'
import { after, BASE, changed, HEAD, TITLE, writes } from './stage.ts'

const STATES = ['merged', 'closed'] as const

/** The owner of a pull request, and what is done with it later. */
export const OWNERSHIP: readonly Case[] = [
  ...[
    { what: 'title', edit: (pull: ModelPull) => void (pull.title = 'Better words') },
    { what: 'body', edit: (pull: ModelPull) => void (pull.body = `More of it.\n${pull.body}`) },
    { what: 'body, marker included,', edit: (pull: ModelPull) => void (pull.body = 'All of it.') },
  ].map(({ what, edit }): Case => ({
    title: `a ${what} that a person has edited stays, whatever the spec says`,
    async run(t, stage) {
      const resource = stage.resource()
      const known = after(resource, await stage.attempt(resource))
      const pull = only(stage.model)
      edit(pull)
      const { title, body } = pull
      stage.requests()
      t.match(await stage.attempt(known), { reason: 'UpToDate', pullRequest: { number: 1, state: 'open' } })
      const next = changed(known, { title: 'From the spec', body: 'From the spec.' })
      t.match(await stage.attempt(next), { reason: 'UpToDate', message: /left/ })
      t.strictSame(writes(stage.requests()), [])
      t.match(only(stage.model), { title, body })
    },
  })),
  {
    title: 'a changed spec changes title and body where nobody else has, and the marker stays last',
    async run(t, stage) {
      const resource = stage.resource()
      const known = after(resource, await stage.attempt(resource))
      stage.requests()
      const next = changed(known, { title: 'Another title', body: 'Another body.' })
      const outcome = await stage.attempt(next)
      t.match(outcome, { reason: 'Succeeded', message: /^Updated .* #1: https:/, pullRequest: { number: 1 } })
      t.equal(writes(stage.requests()).length, 1)
      const { title, body } = only(stage.model)
      t.equal(title, 'Another title')
      t.match(body, /^Another body\.\n\n\[commitlet:[^\n]+\]: #$/)
      t.match(await stage.attempt(after(next, outcome)), { reason: 'UpToDate', message: /^#1 is open: / })
      t.strictSame(writes(stage.requests()), [])
    },
  },
  ...[
    { whose: 'without a marker', body: 'Opened by hand.' },
    { whose: "with another resource's marker", body: marked({ title: 'By hand', body: '' }, 'ffff-1').body },
    {
      whose: 'whose body only quotes a marker',
      body: `> ${marked({ title: '', body: '' }, '0000-1').body}`,
    },
  ].map(({ whose, body }): Case => ({
    title: `one ${whose} is adopted and never written to`,
    async run(t, stage) {
      addPull(stage.model, { base: BASE, head: HEAD, title: 'By hand', body })
      const resource = stage.resource({ reviewers: stage.people.slice(0, 1) })
      const outcome = await stage.attempt(resource)
      t.match(outcome, { reason: 'UpToDate', message: /#1 was opened by someone else/ })
      t.match(outcome, { pullRequest: { number: 1 }, details: { applied: 'False', reason: 'NotOurs' } })
      const next = changed(after(resource, outcome), { title: 'From the spec' })
      t.match(await stage.attempt(next), { reason: 'UpToDate' })
      t.strictSame(writes(stage.requests()), [])
      t.match(stage.model.pulls, [{ title: 'By hand', body, reviewers: [] }])
    },
  })),
  {
    title: 'pull requests of other branches are not adopted',
    async run(t, stage) {
      addPull(stage.model, { base: BASE, head: `${HEAD}-2`, title: 'Other head' })
      addPull(stage.model, { base: `${BASE}-2`, head: HEAD, title: 'Other base' })
      addPull(stage.model, { base: BASE, head: HEAD, title: 'Closed before', state: 'closed' })
      t.match(await stage.attempt(stage.resource()), { reason: 'Succeeded', pullRequest: { number: 4 } })
    },
  },
  ...STATES.flatMap((state): readonly Case[] => [
    {
      title: `one that was ${state} meanwhile reads so, and is not opened again`,
      async run(t, stage) {
        const resource = stage.resource({ reviewers: stage.people.slice(0, 1) })
        const known = after(resource, await stage.attempt(resource))
        only(stage.model).state = state
        stage.requests()
        for (const asked of [known, changed(known, { title: 'Another title' })]) {
          const outcome = await stage.attempt(asked)
          t.match(outcome, { reason: 'UpToDate', pullRequest: { number: 1, state } })
          t.match(outcome.message, `was ${state} and is not opened again`)
        }
        t.strictSame(writes(stage.requests()), [])
        t.equal(stage.model.pulls.length, 1)
      },
    },
    {
      title: `one whose answer was lost and that was ${state} meanwhile is known by its marker`,
      async run(t, stage) {
        const resource = stage.resource()
        stage.server.fail({ kind: 'lost answer' }, (method) => method === 'POST')
        t.match(await stage.failure(resource), { reason: /^(?:NetworkError|ProviderUnavailable)$/ })
        only(stage.model).state = state
        stage.requests()
        const outcome = await stage.attempt(resource, { again: true })
        t.match(outcome, { reason: 'UpToDate', pullRequest: { number: 1, state } })
        t.strictSame(writes(stage.requests()), [])
      },
    },
  ]),
  {
    title: 'a known number that is gone, and in no list, is not opened again',
    async run(t, stage) {
      const resource = stage.resource()
      const known = after(resource, await stage.attempt(resource))
      stage.model.pulls.length = 0
      stage.requests()
      t.match(await stage.attempt(known), { reason: 'UpToDate', message: /#1 no longer exists/ })
      t.strictSame(writes(stage.requests()), [])
    },
  },
  {
    title: 'one that is merged is found behind many later ones of the same branches',
    async run(t, stage) {
      const resource = stage.resource()
      await stage.attempt(resource)
      only(stage.model).state = 'merged'
      crowd(stage.model, 130)
      const outcome = await stage.attempt(resource, { again: true })
      t.match(outcome, { reason: 'UpToDate', pullRequest: { number: 1, state: 'merged' } })
    },
  },
  {
    title: 'of a long list no more is kept than one page and what a resource goes on with',
    async run(t, stage) {
      crowd(stage.model, 130)
      const keep = keepFor('0000-1')
      const lengths: number[] = []
      const found = await stage.work(stage.resource(), (pullRequests) =>
        pullRequests.find({ base: BASE, head: HEAD, headOwner: undefined }, 'all', (read) => {
          lengths.push(read.length)
          return keep(read)
        }),
      )
      t.match(found, [{ number: 130 }])
      t.ok(lengths.length > 1 && Math.max(...lengths) <= 54, lengths.join())
    },
  },
  {
    title: 'at most ten pages of a list are read',
    async run(t, stage) {
      crowd(stage.model, 1_100)
      t.match(await stage.attempt(stage.resource(), { again: true }), { reason: 'Succeeded' })
      t.ok(stage.requests().length <= 12, `${stage.server.seen.length} requests`)
    },
  },
  {
    title:
      'one that a resource of the same branches has opened before and that is merged makes room for a new one',
    async run(t, stage) {
      const before = stage.resource()
      await stage.attempt(before)
      only(stage.model).state = 'merged'
      stage.model.branches.set(HEAD, 9)
      const outcome = await stage.attempt(stage.resource(), { again: true })
      t.match(outcome, { reason: 'Succeeded', pullRequest: { number: 2 } })
      const body = stage.model.pulls[1]?.body ?? ''
      const shown = { number: 2, url: '', state: 'open', title: TITLE, body } as const
      t.match(readMarker(shown), { uid: '0000-2' })
    },
  },
]

/** So many closed ones of the same branches. */
function crowd(model: HostModel, many: number): void {
  for (let index = 0; index < many; index += 1)
    addPull(model, { base: BASE, head: HEAD, title: `Try ${index}`, state: 'closed' })
}

function only({ pulls }: HostModel): ModelPull {
  const [pull] = pulls
  if (pull === undefined || pulls.length > 1) throw new Error(`There are ${pulls.length} pull requests.`)
  return pull
}
