import pino from 'pino'
import { handle } from '../../../functions/attempt/attempt.ts'
import { openClaimKeeper } from '../../../functions/attempt/claim-keeper.ts'
import { paceFailing } from '../../../functions/attempt/failing-pace.ts'
import { openLeftAlone } from '../../../functions/attempt/left-alone.ts'
import { finder } from '../../../functions/attempt/find.ts'
import { openTurns } from '../../../functions/attempt/turns/turns.ts'
import type { ApiAnswer, ApiCall, ApiServer } from '../../../functions/cluster/api-server.ts'
import { connectCluster } from '../../../functions/cluster/connect.ts'
import { openLargeObjects } from '../../../functions/commit/sources/large-objects.ts'
import { unlessAborted } from '../../../functions/domain/deadline.ts'
import { Failure } from '../../../functions/domain/failure.ts'
import type { ObjectRef } from '../../../functions/domain/resource/resource.ts'
import { NO_METER } from '../../../functions/domain/telemetry/meter.ts'
import { NO_TRACER } from '../../../functions/domain/telemetry/tracer.ts'
import { openLooks } from '../../../functions/looks/looks.ts'
import { findOne } from '../../../functions/git/writer/doubts.ts'
import { makeGroupCommit } from '../../../functions/git/group-commit/group-commit.ts'
import { land } from '../../../functions/git/writer/land.ts'
import { takeTurnsToFollow } from '../../../functions/looks/follow-turns.ts'
import { openFollowedObjects } from '../../../functions/followed-objects.ts'
import { shareLooks } from '../../../functions/looks/look-share.ts'
import type { World } from '../../../functions/world.ts'
import { SETTINGS, SHARES } from '../../harness/memory-world.ts'
import { constantAnswer } from './constant-answers.ts'
import { LOST, type Outside, type Running } from './program.ts'
import { openRemote, type AskRemote, type Engine } from './remote-session.ts'

/** What is broken on purpose, to see it caught; `none` for the product. */
export type Breakage =
  | 'none'
  | 'no history search'
  | 'claim without resourceVersion'
  | 'claim not confirmed'
  | 'late pushes forgotten'

/** As in functions/cluster/api-server.ts. */
const API_DEADLINE_MS = 15_000
const SILENT = pino({ level: 'silent' })

/**
 * One pod of the function: everything from the event to the status is the real code, put together as in functions/main.ts,
 * above an API server and a remote that are `outside`. It remembers the tip of the branch.
 */
export function startFunction(outside: Outside, memory: string, breakage: Breakage): Running {
  const engine: Engine = { remembered: memory === '' ? undefined : JSON.parse(memory), written: 0 }
  const cluster = connectCluster(apiServerOf(outside, breakage))
  const now = (): Date => cluster.now()
  const elapsed = (): number => performance.now()
  const turns = openTurns(SHARES)
  const confirms = breakage !== 'claim not confirmed'
  const watches = breakage !== 'late pushes forgotten'
  let sessions = 0
  let draws = 0
  let handled = 0
  let busy = 0

  function sessionOf(signal: AbortSignal): ReturnType<typeof openRemote> {
    const ask: AskRemote = (kind, text) => outside.call(kind, text, signal)
    return openRemote(ask, engine, breakage !== 'no history search')
  }

  const groupCommit = makeGroupCommit({
    land: ({ changes, ...landing }) => land(sessionOf(landing.signal), { ...landing, batch: changes }),
    acquire: (owner, signal) =>
      turns.acquireSession({ ...owner, name: `session ${(sessions += 1)}` }, signal),
  })
  const world: World = {
    cluster,
    push: (change, login, { signal, claim, pushWatch }) =>
      groupCommit.push(change, login, signal, {
        ...(watches ? { pushWatch } : {}),
        ...(confirms ? { claim } : {}),
      }),
    commitsByAPI: () => () => Promise.reject(new Error('There are no APIs here')),
    editFile: () => Promise.reject(new Error('No file is edited here')),
    find: (change, _login, { signal }) => findOne(sessionOf(signal), change),
    withPullRequests: () => Promise.reject(new Error('There are only commits here')),
    appTokens: () => Promise.reject(new Error('There are no Apps here')),
    expect: groupCommit.expect,
    takeTurn: turns.takeTurn,
    workFor: (_namespace, work) => Promise.resolve().then(work),
    largeObjects: openLargeObjects(elapsed),
    shareSigner: (_namespace, signer) => signer,
    now,
    elapsed,
    keepClaim: openClaimKeeper({ cluster, now, elapsed }),
    shareLook: shareLooks(elapsed),
    turnToFollow: takeTurnsToFollow().turnToFollow,
    followed: openFollowedObjects(),
    leftAlone: openLeftAlone(elapsed),
    inPace: paceFailing().inPace,
    looks: openLooks({
      ...{ cluster, now, elapsed, stampKey: undefined, log: SILENT },
      wake: (ref, awaited) => handle(ref, find, world, awaited),
    }),
    // What a program draws itself begins with 9; see tokens.ts.
    random: () => (900_000.5 + (draws += 1)) / 1_000_000,
    log: SILENT,
    meter: NO_METER,
    tracer: NO_TRACER,
    settings: SETTINGS,
  }
  const find = finder(cluster, { reads: 32, waits: 64 })

  async function take(text: string): Promise<void> {
    const ref: ObjectRef = JSON.parse(text)
    handled += 1
    busy += 1
    const number = handled
    // As the HTTP edge answers, functions/app.ts.
    const status = await handle(ref, find, world).then(
      () => 202,
      (error: unknown) => (error instanceof Failure ? 503 : 500),
    )
    busy -= 1
    outside.report(`${number} ${status}`)
  }

  return {
    take: (text) => void take(text),
    rest: () =>
      busy > 0 ? undefined : engine.remembered === undefined ? '' : JSON.stringify(engine.remembered),
  }
}

/** Calls about the resource and the object that it refers to go outside; for all others the answer never changes. */
function apiServerOf(outside: Outside, breakage: Breakage): ApiServer {
  return async function call(request) {
    const constant = constantAnswer(request)
    if (constant !== undefined) return constant
    const text = JSON.stringify(breakage === 'claim without resourceVersion' ? unguarded(request) : request)
    const over = new AbortController()
    const timer = setTimeout(() => over.abort(noAnswer('Timeout')), API_DEADLINE_MS)
    const answer = await unlessAborted(
      outside.call(request.method === 'GET' ? 'read' : 'write', text, over.signal),
      over.signal,
    ).finally(() => clearTimeout(timer))
    if (answer === LOST) throw noAnswer('NetworkError')
    const { status, text: body, date = '' }: ApiAnswer = JSON.parse(answer)
    return { status, text: body, date: new Date(date).toUTCString() }
  }
}

function unguarded(request: ApiCall): ApiCall {
  const text = JSON.stringify(request.body ?? null)
  if (!text.includes('"phase":"Progressing"')) return request
  return { ...request, body: JSON.parse(text.replace(/"resourceVersion":"[^"]*",/, '')) }
}

function noAnswer(reason: 'Timeout' | 'NetworkError'): Failure {
  return new Failure(reason, 'The API server did not answer; Commitlet retries automatically.')
}
