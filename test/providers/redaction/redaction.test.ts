import { inspect } from 'node:util'
import t from 'tap'
import type { ApiLogin } from '../../../functions/domain/credentials/login.ts'
import { Failure } from '../../../functions/domain/failure.ts'
import { HOSTS } from '../../../functions/domain/repository/hosts.ts'
import type { PullRequest } from '../../../functions/domain/resource/resource.ts'
import { leakFinder, TOKEN } from '../../e2e/distinctive-secrets.ts'
import { isCounted, sample } from '../../harness/sample.ts'
import { waitFor } from '../../harness/wait.ts'
import { dialectOf } from '../contract/rows.ts'
import { startSite } from '../contract/site.ts'
import { after, changed, loginWith, startStage } from '../contract/stage.ts'
import type { Reconciled, Stage } from '../contract/stage.ts'
import { listen } from './listener.ts'
import { WRONGS } from './faults.ts'
import type { Wrong } from './faults.ts'

/** Printable, as a header needs it. */
const SECRET = TOKEN.replaceAll('é', 'e')
const PERSON = 'someone.distinctive@acme.example'
const PAIR = Buffer.from(`${PERSON}:${SECRET}`).toString('base64')
const PATIENCE = 5_000

const LOGINS: Readonly<Record<string, ApiLogin>> = {
  'a token': loginWith(SECRET),
  'a user name and a password': {
    username: PERSON,
    secret: SECRET,
    identity: 'pair',
    secrets: [PERSON, SECRET],
  },
}

const leaksIn = leakFinder([SECRET, PERSON, PAIR])

const PAIRS = HOSTS.flatMap((host) => Object.entries(LOGINS).map(([kind, login]) => ({ host, kind, login })))

/** Two hosts are one row, but not where the lines of each are counted. */
const rowOf = (host: (typeof HOSTS)[number]): string =>
  isCounted() ? host.name : String(HOSTS.indexOf(host) % 2)

for (const { host, kind, login } of sample(PAIRS, ({ host }) => rowOf(host))) {
  t.test(`${host.name} with ${kind}: whatever fails, nothing shows the login`, async (t) => {
    const dialect = await dialectOf(host.name)
    if (dialect === undefined) {
      t.fail('there is no stand-in for it')
      return
    }
    const stage = await startStage(t, await startSite(t), { host, dialect })
    stage.model.tokens.set(SECRET, 'write')
    const listener = listen()
    const wrongs = sample(WRONGS, ({ row }) => `${host.name} ${row}`)
    const ended = await endings(stage, wrongs, login).finally(() => listener.stop())
    for (const { name, result } of ended) {
      const leaks = [...new Set(Object.entries(shapesOf(result)).flatMap(leaksOf))]
      t.strictSame(leaks, [], name)
      t.notMatch(result, { reason: 'Internal' }, name)
    }
    t.strictSame(stage.server.violations, [])
    t.equal(listener.heard(), '', 'nothing is printed')
    t.ok(
      ended.filter(({ result }) => result instanceof Failure).length > wrongs.length,
      'there were failures',
    )
    const words = ended.map(({ result }) => (result instanceof Failure ? result.message : ''))
    t.ok(
      words.some((message) => message.includes('***')),
      'something was quoted, and masked',
    )
  })
}

for (const host of sample(HOSTS, () => 'a host')) {
  t.test(`${host.name}: a token that no header can carry is not shown either`, async (t) => {
    const dialect = await dialectOf(host.name)
    if (dialect === undefined) {
      t.fail('there is no stand-in for it')
      return
    }
    const stage = await startStage(t, await startSite(t), { host, dialect })
    for (const odd of [`${SECRET}é`, `${SECRET}大`, `${SECRET}\u0000`, `${SECRET}\nx: y`]) {
      for (const username of [undefined, `${PERSON}大`]) {
        const login = { ...loginWith(odd), username, secrets: [odd, PERSON] }
        const result = await ending(stage.attempt(stage.resource(), { login }))
        t.strictSame(Object.entries(shapesOf(result)).flatMap(leaksOf), [], inspect(result))
        t.ok(result instanceof Failure && result.reason !== 'Internal', inspect(result))
      }
    }
  })
}

t.test('a login that is shown is found', async (t) => {
  const cause = Object.assign(new Error('x'), { config: { headers: new Headers({ authorization: PAIR }) } })
  const shapes = shapesOf(new Error('y', { cause }))
  t.strictSame(Object.entries(shapes).flatMap(leaksOf), ['inspect', 'inspect of the cause'])
  t.strictSame(Object.entries(shapesOf(new Error(SECRET))).flatMap(leaksOf), ['inspect', 'stack', 'text'])
})

interface Ending {
  readonly name: string
  /** The Failure, or the answer. */
  readonly result: unknown
}

/** Every one of these faults, while searching, creating, reading, updating and adding. */
async function endings(stage: Stage, wrongs: readonly Wrong[], login: ApiLogin): Promise<readonly Ending[]> {
  const found: Ending[] = []
  for (const wrong of wrongs) found.push(...(await endingsOf(stage, wrong, login)))
  for (const method of ['GET', 'POST']) {
    found.push({ name: `silence after ${method}`, result: await silence(stage, method, login) })
  }
  return found
}

async function endingsOf(stage: Stage, { name, fault }: Wrong, login: ApiLogin): Promise<readonly Ending[]> {
  const { model, server } = stage
  const found: Ending[] = []
  const meet = async (what: string, method: RegExp, resource: PullRequest): Promise<void> => {
    // Limits are remembered for this credential: an hour is longer than any.
    stage.clock.now += 3_600_000
    server.fail(fault, (one) => method.test(one))
    found.push({ name: `${name} to ${what}`, result: await ending(stage.attempt(resource, { login })) })
    settle(server)
  }
  model.pulls.length = 0
  await meet('the look', /GET/, stage.resource())
  model.pulls.length = 0
  await meet('the creation', /POST/, stage.resource())
  model.pulls.length = 0
  stage.clock.now += 3_600_000
  const opened = stage.resource()
  const known = after(opened, await stage.attempt(opened, { login }))
  await meet('the reading', /GET/, known)
  await meet('the update', /PUT|PATCH|POST/, changed(known, { title: 'Another title' }))
  const asked = changed(known, { labels: ['urgent'], reviewers: [...stage.people] })
  await meet('the adding', /PUT|PATCH|POST/, asked)
  return found
}

/** A fault that no request has met is used up by an extra request. */
function settle(server: Stage['server']): void {
  server.seen.length = 0
  server.forget()
}

async function silence(stage: Stage, method: string, login: ApiLogin): Promise<unknown> {
  stage.model.pulls.length = 0
  stage.clock.now += 3_600_000
  stage.server.fail({ kind: 'silence' }, (one) => one === method)
  const deadline = new AbortController()
  const ended = ending(stage.attempt(stage.resource(), { login, signal: deadline.signal }))
  const unanswered = (): true | undefined =>
    stage.server.seen.some(({ status }) => status === 0) ? true : undefined
  await waitFor('request without an answer', unanswered, PATIENCE)
  deadline.abort(new DOMException('The time is over.', 'TimeoutError'))
  stage.server.seen.length = 0
  return ended
}

function ending(attempt: Promise<Reconciled>): Promise<unknown> {
  return attempt.catch((error: unknown) => error)
}

/** Every spelling of it. */
function shapesOf(value: unknown): Readonly<Record<string, string>> {
  return {
    inspect: inspect(value, { depth: Infinity, showHidden: true, getters: true, maxStringLength: null }),
    json: JSON.stringify({ value }),
    stack: value instanceof Error ? String(value.stack) : '',
    text: String(value),
    ...(value instanceof Error && value.cause !== undefined ? causes(value.cause) : {}),
  }
}

function causes(cause: unknown): Readonly<Record<string, string>> {
  const inner = Object.entries(shapesOf(cause))
  return Object.fromEntries(inner.map(([name, text]) => [`${name} of the cause`, text]))
}

function leaksOf([shape, text]: readonly [string, string]): readonly string[] {
  return leaksIn(text).length > 0 ? [shape] : []
}
