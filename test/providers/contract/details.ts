import { textMember } from '../../../functions/domain/json-value.ts'
import type { PullRequestSpec } from '../../../functions/domain/spec/spec.ts'
import type { Case } from './case.ts'
import { after, changed, writes } from './stage.ts'
import type { Stage } from './stage.ts'

const DETAILS = ['labels', 'reviewers', 'assignees'] as const
type Detail = (typeof DETAILS)[number]

const APPLIED = [
  { type: 'Ready', status: 'True' },
  { type: 'DetailsApplied', status: 'True' },
]

/** Labels, reviewers and assignees. */
export const DETAILS_CASES: readonly Case[] = [
  {
    title: 'the labels, reviewers and assignees that the host supports are added once',
    async run(t, stage) {
      const spec = askedOf(stage)
      const resource = stage.resource(spec)
      const outcome = await stage.attempt(resource)
      t.match(outcome, { reason: 'Succeeded', details: { applied: 'True', reason: 'Applied' } })
      t.match(stage.model.pulls, [spec])
      stage.requests()
      const known = after(resource, outcome)
      t.match(after(known, await stage.attempt(known)).status?.conditions, APPLIED)
      t.strictSame(writes(stage.requests()), [])
      const next = changed(known, { title: 'Another title' })
      t.match(await stage.attempt(next), { reason: 'Succeeded', message: /^Updated/ })
      t.match(stage.model.pulls, [{ ...spec, title: 'Another title' }], 'a changed text removes no one')
    },
  },
  ...DETAILS.map((detail): Case => ({
    title: `${detail} that are there already stay, and are not added twice`,
    spares: ({ lacks }) => lacks.includes(detail),
    async run(t, stage) {
      const [first, second] = namesOf(stage, detail)
      const resource = stage.resource({ [detail]: [first] })
      const outcome = await stage.attempt(resource)
      const next = changed(after(resource, outcome), { [detail]: [second] })
      t.match(await stage.attempt(next), { details: { applied: 'True' } })
      const both = changed(next, { [detail]: [second, first] })
      t.match(await stage.attempt(both), { details: { applied: 'True' } })
      t.strictSame(stage.model.pulls[0]?.[detail].toSorted(), [first, second].toSorted())
    },
  })),
  ...(['reviewers', 'assignees'] as const).map((detail): Case => ({
    title: `${detail} that the host does not know are named, the others are added, and it is Ready`,
    spares: ({ lacks }) => lacks.includes(detail),
    async run(t, stage) {
      const [, known] = stage.people
      const stranger = strangerOn(stage)
      const resource = stage.resource({ [detail]: [stranger, known] })
      const outcome = await stage.attempt(resource)
      t.match(outcome, { reason: 'Succeeded', pullRequest: { number: 1, state: 'open' } })
      t.match(outcome.details, { applied: 'False', reason: 'NotApplied' })
      const message = textMember(outcome.details, 'message') ?? ''
      t.ok(message.includes(stranger), message)
      t.notOk(message.includes(known), message)
      t.strictSame(stage.model.pulls[0]?.[detail], [known])
      stage.model.people.add(stranger)
      const again = await stage.attempt(after(resource, outcome))
      t.match(again, { reason: 'UpToDate', details: { applied: 'True' } })
      t.strictSame(stage.model.pulls[0]?.[detail].toSorted(), [known, stranger].toSorted())
    },
  })),
  {
    title: 'a host that fails while they are added does not fail the pull request',
    async run(t, stage) {
      const answer = { status: 503, body: { message: 'Service Unavailable' } }
      const resource = stage.resource({ reviewers: [stage.people[0]] })
      let writing = 0
      stage.server.fail({ kind: 'answer', answer }, (method) => method !== 'GET' && (writing += 1) > 1)
      const outcome = await stage.attempt(resource)
      t.match(outcome, { reason: 'Succeeded', pullRequest: { number: 1 } })
      t.match(outcome.details, { applied: 'False', reason: 'NotApplied', message: /ProviderUnavailable/ })
      t.match(await stage.attempt(after(resource, outcome)), { details: { applied: 'True' } })
      t.match(stage.model.pulls, [{ reviewers: [stage.people[0]] }])
    },
  },
  ...(['labels', 'assignees'] as const).map((detail): Case => ({
    title: `a host without ${detail} is not asked for them, and says so`,
    spares: ({ lacks }) => !lacks.includes(detail),
    async run(t, stage) {
      const outcome = await stage.attempt(stage.resource({ [detail]: ['dev'] }))
      t.match(outcome, { reason: 'Succeeded', details: { applied: 'False', reason: 'NotApplied' } })
      t.equal(writes(stage.requests()).length, 1, 'the creation alone')
    },
  })),
]

function askedOf(stage: Stage): Partial<PullRequestSpec> {
  const had = DETAILS.filter((detail) => !stage.host.lacks.includes(detail))
  return Object.fromEntries(had.map((detail) => [detail, namesOf(stage, detail).slice(0, 1)]))
}

function namesOf({ people }: Stage, detail: Detail): readonly [string, string] {
  return detail === 'labels' ? ['settings', 'urgent'] : people
}

/** An unknown user, named as the host names people. */
function strangerOn({ host }: Stage): string {
  return host.person === undefined ? 'stranger' : '{99999999-9999-9999-9999-999999999999}'
}
