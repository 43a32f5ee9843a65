import { elements, isRecord, member } from '../../../functions/domain/json-value.ts'
import type { HostAnswer } from '../../harness/hosts/dialect.ts'
import type { Case } from './case.ts'
import { addPull } from '../../harness/hosts/model.ts'
import { after, BASE, changed, HEAD, TITLE, writes } from './stage.ts'

interface Malformed {
  readonly what: string
  readonly change: (answer: HostAnswer) => HostAnswer
}

const JSON_TYPE = { 'content-type': 'application/json' }
const HTML_TYPE = { 'content-type': 'text/html; charset=utf-8' }
const PAGE = '<!DOCTYPE html>\n<html><head><title>Sign in</title></head><body></body></html>'

/** Faults of any answer. */
const BROKEN: readonly Malformed[] = [
  { what: 'a web page', change: ({ status }) => ({ status, headers: HTML_TYPE, body: PAGE }) },
  { what: 'a web page that calls itself JSON', change: (answer) => written(answer, PAGE) },
  { what: 'cut JSON', change: (answer) => written(answer, JSON.stringify(answer.body).slice(0, -9)) },
  { what: 'nothing', change: (answer) => written(answer, '') },
  { what: 'null', change: (answer) => written(answer, 'null') },
  { what: 'more than anybody reads', change: (answer) => written(answer, `[${'{},'.repeat(100_000)}{}]`) },
  { what: 'brackets without end', change: (answer) => written(answer, '['.repeat(100_000)) },
  { what: 'a number', change: (answer) => written(answer, '7') },
]

/** Faults of an answer that shows one pull request. */
const UNBELIEVABLE: readonly Malformed[] = [
  ...BROKEN,
  { what: 'an empty object', change: (answer) => written(answer, '{}') },
  { what: 'a list', change: (answer) => written(answer, '[]') },
  { what: 'no number', change: (answer) => numbered(answer, undefined) },
  { what: 'a number in quotes', change: (answer) => numbered(answer, '1') },
  { what: 'the number 0', change: (answer) => numbered(answer, 0) },
  { what: 'a number with a fraction', change: (answer) => numbered(answer, 1.5) },
  { what: 'another head', change: (answer) => renamed(answer, HEAD) },
  { what: 'an address that holds the token', change: (answer) => addressed(answer, 'https://good-token.') },
  { what: 'an address that is a script', change: (answer) => addressed(answer, 'javascript:alert(1)//') },
]

/** Faults of the answer to a creation. */
const NOT_CREATED: readonly Malformed[] = [
  ...UNBELIEVABLE,
  { what: 'another base', change: (answer) => renamed(answer, BASE) },
  { what: 'the status of a look', change: (answer) => ({ ...answer, status: 200 }) },
  { what: 'the status of what is done later', change: (answer) => ({ ...answer, status: 202 }) },
]

/** An answer that shows another pull request of the same branches. */
const ANOTHER: Malformed = { what: 'another number', change: (answer) => numbered(answer, 7) }

/** Answers that only look like a success. */
export const ANSWERS: readonly Case[] = [
  ...NOT_CREATED.map(({ what, change }): Case => ({
    title: `a creation answered with ${what} is not accepted, and looked up again`,
    async run(t, stage) {
      stage.server.fail({ kind: 'changed', change }, (method) => method === 'POST')
      const resource = stage.resource()
      t.match(await stage.failure(resource), { reason: 'ProviderUnavailable', retry: 'transient' })
      const again = await stage.attempt(resource, { again: true })
      t.match(again, { reason: 'UpToDate', message: /^#1 is open: / })
      t.equal(stage.model.pulls.length, 1, 'there is no second one')
    },
  })),
  ...BROKEN.map(({ what, change }): Case => ({
    title: `a search answered with ${what} is not accepted, and nothing is opened`,
    async run(t, stage) {
      stage.server.fail({ kind: 'changed', change }, (method) => method === 'GET')
      t.match(await stage.failure(stage.resource()), { reason: 'ProviderUnavailable' })
      t.equal(stage.requests().length, 1)
      t.equal(stage.model.pulls.length, 0)
    },
  })),
  ...[...BROKEN, ANOTHER].map(({ what, change }): Case => ({
    title: `a known number answered with ${what} is not accepted`,
    async run(t, stage) {
      const resource = stage.resource()
      const known = after(resource, await stage.attempt(resource))
      stage.server.fail({ kind: 'changed', change }, (method) => method === 'GET')
      t.match(await stage.failure(known), { reason: 'ProviderUnavailable' })
      t.equal(stage.model.pulls.length, 1)
    },
  })),
  ...[...BROKEN, ANOTHER].map(({ what, change }): Case => ({
    title: `an update answered with ${what} is not accepted, and read again`,
    async run(t, stage) {
      const resource = stage.resource()
      const known = after(resource, await stage.attempt(resource))
      const next = changed(known, { title: 'Another title' })
      stage.server.fail({ kind: 'changed', change }, (method) => method !== 'GET')
      t.match(await stage.failure(next), { reason: 'ProviderUnavailable' })
      t.match(await stage.attempt(next), { reason: 'UpToDate', pullRequest: { number: 1 } })
      t.match(stage.model.pulls, [{ title: 'Another title' }])
    },
  })),
  {
    title: 'a page that is longer than requested is not accepted, and nothing is opened',
    async run(t, stage) {
      addPull(stage.model, { base: BASE, head: HEAD, title: 'Merged before', state: 'merged' })
      stage.server.fail({ kind: 'changed', change: longer }, (method) => method === 'GET')
      t.match(await stage.failure(stage.resource(), { again: true }), { reason: 'ProviderUnavailable' })
      t.equal(stage.requests().length, 1)
      t.equal(stage.model.pulls.length, 1)
    },
  },
  ...[HEAD, BASE].map((branch): Case => ({
    title: `pull requests of other branches in a list are skipped (${branch})`,
    async run(t, stage) {
      addPull(stage.model, { base: BASE, head: HEAD, title: 'Of other branches' })
      const change = (answer: HostAnswer): HostAnswer => {
        stage.model.pulls.length = 0
        return renamed(answer, branch)
      }
      stage.server.fail({ kind: 'changed', change }, (method) => method === 'GET')
      t.match(await stage.attempt(stage.resource()), { reason: 'Succeeded', pullRequest: { number: 1 } })
      t.match(stage.model.pulls, [{ title: TITLE }])
    },
  })),
  ...[HEAD, BASE].map((branch): Case => ({
    title: `a known number that now has other branches is not written to (${branch})`,
    async run(t, stage) {
      const resource = stage.resource()
      const known = after(resource, await stage.attempt(resource))
      const change = (answer: HostAnswer): HostAnswer => {
        stage.model.pulls.length = 0
        return renamed(answer, branch)
      }
      stage.server.fail({ kind: 'changed', change }, (method) => method === 'GET')
      stage.requests()
      t.match(await stage.attempt(changed(known, { title: 'Another title' })), { reason: 'UpToDate' })
      t.strictSame(writes(stage.requests()), [])
    },
  })),
  {
    title: 'where the known number is gone, the host is searched by branches',
    async run(t, stage) {
      const resource = stage.resource()
      const outcome = await stage.attempt(resource)
      const pullRequest = { number: 99, url: 'https://localhost/99', state: 'open' } as const
      const known = after(resource, { ...outcome, pullRequest })
      t.match(await stage.attempt(known), { reason: 'UpToDate', pullRequest: { number: 1 } })
    },
  },
]

function written({ status }: HostAnswer, body: string): HostAnswer {
  return { status, headers: JSON_TYPE, body }
}

/** Hosts call it number, iid or id. */
function numbered(answer: HostAnswer, number: unknown): HostAnswer {
  const known = isRecord(answer.body) ? answer.body : {}
  return { ...answer, body: { ...known, number, iid: number, id: number } }
}

/** The list shows each pull request a hundred times. */
function longer(answer: HostAnswer): HostAnswer {
  const repeated = (list: unknown): unknown[] => Array.from({ length: 100 }, () => elements(list)).flat()
  const { body } = answer
  const values = repeated(member(body, 'values'))
  return { ...answer, body: Array.isArray(body) ? repeated(body) : { ...Object(body), values } }
}

/** The branch has another name wherever the answer shows it. */
function renamed(answer: HostAnswer, branch: string): HostAnswer {
  return replaced(answer, `"${branch}"`, `"${branch}-2"`)
}

function addressed(answer: HostAnswer, prefix: string): HostAnswer {
  return replaced(answer, '"https://', `"${prefix}`)
}

function replaced(answer: HostAnswer, from: string, to: string): HostAnswer {
  const body: unknown = JSON.parse(JSON.stringify(answer.body).replaceAll(from, to))
  return { ...answer, body }
}
