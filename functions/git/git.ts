import { anySignal } from '../domain/deadline.ts'
import type { Change, ChangeDraft, Landed } from '../domain/commit/change.ts'
import type { ApiCommitTerms } from '../domain/commit/commit-by-api.ts'
import type { Login } from '../domain/credentials/login.ts'
import { Failure } from '../domain/failure.ts'
import type { Release } from '../domain/network/budget.ts'
import { findRoute, type RouteSettings } from '../domain/network/route.ts'
import type { Share } from '../domain/network/share.ts'
import { stopIfAborted } from './process/launcher.ts'
import { throughAPI } from './api-remote.ts'
import { openEngines, type EngineSettings } from './engines.ts'
import { sessionSpan } from './measured-engine.ts'
import { openReadings, type SearchOptions } from './readings.ts'
import type { EngineName, Remote, RemoteTarget } from './remote.ts'
import { turnOfBatch } from './session-turn.ts'
import { openSSHSessions, type GuardLogIn } from './ssh/sessions.ts'
import { findOne } from './writer/doubts.ts'
import type { ExpectedChange } from './group-commit/queue/expected-changes.ts'
import type { Batch } from './group-commit/batch.ts'
import type { SessionSeeker } from './group-commit/first-session.ts'
import { makeGroupCommit } from './group-commit/group-commit.ts'
import { land } from './writer/land.ts'
import type { PendingChange, PushOptions, Settled } from './writer/pending-change.ts'
import { preview, type Preview } from './writer/preview.ts'

/** What main.ts hands in. */
export interface GitSettings extends RouteSettings, EngineSettings {
  /** Waits until a session may begin; default: at once. */
  readonly acquireSession?: (holder: SessionHolder, signal: AbortSignal) => Promise<Release>
  /** Bounds the log-ins at SSH servers; default: each is tried. */
  readonly guardLogIn?: GuardLogIn
  /**
   * The time that commits have: that by which the next attempt searches for them (`ChangeDraft.since`), or one that is near it.
   * Default: that of the machine.
   */
  readonly now?: () => Date
}

/** Whose session it is. */
export interface SessionHolder extends SessionSeeker {
  /** The session; no other has the same. */
  readonly name: string
}

/** The Git writer. */
export interface Git {
  /**
   * Writes one change as one commit, together with others of the same repository, branch and login.
   * Fails at once when `signal` fires. The commit may still land; the next attempt then finds it by `since`.
   * `claim` is confirmed before each push.
   * @throws Failure
   */
  push(change: Change, login: Login, signal: AbortSignal, options?: PushOptions): Promise<Landed>
  /**
   * Searches the branch's history since `change.since` for the commit of an earlier attempt: a commit with the
   * change's id and a seal for it that changes one of its paths. Writes nothing. Undefined: there is no such commit.
   * @throws Failure
   */
  find(
    change: ChangeDraft,
    login: Login,
    signal: AbortSignal,
    options?: SearchOptions,
  ): Promise<Landed | undefined>
  /**
   * Reads what a push of this change would do, and whether the remote would let this login push. Writes nothing.
   * @throws Failure
   */
  preview(change: Change, login: Login, signal: AbortSignal): Promise<Preview>
  /**
   * A change for this branch is on its way: a push of its namespace that is about to begin waits for it, half a second at
   * most. The result is called when the change has come, or will not come.
   */
  expect(change: ExpectedChange): Release
  /** Fails all pending changes, waits until no process is left, and removes every file. */
  close(): Promise<void>
}

/** Connects the writer to the engines behind the port `Remote`; nothing is read or written before the first push. */
export function openGit(settings: GitSettings): Git {
  const { guardLogIn } = settings
  const ssh = openSSHSessions(guardLogIn === undefined ? {} : { guardLogIn })
  const engine = openEngines(settings, ssh)
  const closing = new AbortController()

  let sessions = 0

  function acquire(owner: SessionSeeker, signal: AbortSignal): Promise<Release> {
    sessions += 1
    const name = `session ${sessions} at ${owner.address.text}`
    return settings.acquireSession?.({ ...owner, name }, signal) ?? Promise.resolve(() => undefined)
  }

  async function open(target: Omit<RemoteTarget, 'route'>): Promise<Remote> {
    const { address, signal, namespace, login } = target
    stopIfAborted(signal)
    // With the operator's login, others may wait for the same push.
    const isOfOperator = login.ofOperator === true
    const route = await findRoute(address, settings, signal, isOfOperator ? undefined : namespace)
    const { handshakes } = settings
    if (handshakes === undefined) return engine.open({ ...target, route })
    const workFor = isOfOperator ? handshakes.withOperatorsLogin : handshakes.workFor
    const share: Share = (work) => workFor(namespace, work, signal)
    return engine.open({ ...target, route: { ...route, share } })
  }

  async function* landBatch(batch: Batch): AsyncGenerator<Settled, void> {
    const { changes, address, login, namespace, ...landing } = batch
    const { signal, join } = landing
    const told = [...changes]
    const { turn, roundEnded } = turnOfBatch(batch, () => told)
    let chosen: EngineName | undefined
    const engineChosen: RemoteTarget['engineChosen'] = (engine) => {
      chosen = engine
      for (const pending of told) pending.engineChosen?.(engine)
    }
    function joinAndTell(of: readonly PendingChange[]): readonly PendingChange[] {
      const more = join(of)
      told.push(...more)
      if (chosen !== undefined) for (const pending of more) pending.engineChosen?.(chosen)
      return more
    }
    const span = sessionSpan(changes)
    try {
      const branch = changes[0]?.change.branch
      const remote = await open({ address, branch, login, namespace, signal, engineChosen, span, turn })
      try {
        const writer = writing(remote, changes, { login, signal, span })
        yield* land(writer, { ...landing, batch: changes, join: joinAndTell, roundEnded })
      } finally {
        await remote.close()
      }
    } finally {
      span.end()
    }
  }

  const readings = openReadings({ acquire, open, closing: closing.signal })
  const groupCommit = makeGroupCommit({ land: landBatch, acquire })
  return {
    async push(change, login, signal, options) {
      const dated = { date: settings.now?.(), ...options }
      return groupCommit.push(change, login, anySignal([signal, closing.signal]), dated)
    },
    expect: groupCommit.expect,
    find: (change, login, signal, options) =>
      readings.read({ change, login, signal, ...options }, (remote) => findOne(remote, change)),
    preview: (change, login, signal) =>
      readings.read({ change, login, signal }, (remote) =>
        preview(writing(remote, [{ change }], { login, signal }), change),
      ),
    async close() {
      closing.abort(
        new Failure(
          'Timeout',
          'Commitlet was stopped before the remote had accepted the commit; it retries automatically after its restart.',
        ),
      )
      await Promise.all([groupCommit.idle(), readings.ended()])
      await Promise.all([engine.close(), ssh.close()])
    },
  }
}

/** The remote as these changes are written to it: all of them by the API of its host, or none. */
function writing(
  remote: Remote,
  [first]: readonly Pick<PendingChange, 'change'>[],
  terms: ApiCommitTerms,
): Remote {
  const commitByAPI = first?.change.commitByAPI
  return commitByAPI === undefined ? remote : throughAPI(remote, commitByAPI, terms)
}
