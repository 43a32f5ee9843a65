import { rm } from 'node:fs/promises'
import type { RepositoryAddress } from '../domain/repository/address.ts'
import type { Change, Landed } from '../domain/commit/change.ts'
import type { Login } from '../domain/credentials/login.ts'
import { asFailure, Failure } from '../domain/failure.ts'
import type { Trusted } from './process/authorities.ts'
import { openProcessDir, type ProcessDir } from './process/process-dir.ts'
import { findRoute, type RouteSettings } from '../domain/network/route.ts'
import { makeGroupCommit, type Batch } from './writer/group-commit.ts'
import { stopIfAborted } from './process/launcher.ts'
import { USUAL_PATH } from './process/required-programs.ts'
import { findOne } from './writer/doubts.ts'
import { openSession, type Session } from './session/session.ts'
import { inTransport } from './session/transport.ts'
import { inWorkspace } from './process/workspace.ts'
import { land } from './writer/land.ts'

/** What main.ts hands in. */
export interface GitSettings extends RouteSettings, Trusted {
  /**
   * Existing folder, best memory-backed; everything below it that is made here is removed again, by the next
   * process where this one is killed. Not for containers to share: one does not see that another's process lives.
   */
  readonly tempDir: string
  /** FETCH_LIMIT. */
  readonly fetchLimitMiB: number
  /** ATTEMPT_DEADLINE: no git process lives longer, whatever becomes of the signals; default 120. */
  readonly deadlineSeconds?: number
  /** PATH in which sh, setpriv, timeout and git are found; default: the usual folders. */
  readonly path?: string
}

/** The Git writer. */
export interface Git {
  /**
   * Writes one change as one commit, together with others of the same repository, branch and login.
   * Undone at once when `signal` fires; the commit may then have landed all the same, which the next
   * attempt finds by `since`.
   * @throws Failure
   */
  push(change: Change, login: Login, signal: AbortSignal): Promise<Landed>
  /**
   * Looks in the branch's history since `change.since` for the commit of an earlier attempt: the change's id in a
   * commit that changes its path. Writes nothing. Undefined: it is not there.
   * @throws Failure
   */
  find(change: Omit<Change, 'content'>, login: Login, signal: AbortSignal): Promise<Landed | undefined>
  /** Fails what is on its way, waits until no process is left, and removes every file. */
  close(): Promise<void>
}

const DEADLINE_SECONDS = 120
// What a git needs besides what it fetches.
const BASE_MEMORY_MIB = 256

/** Opens the writer; nothing is read or written before the first push. */
export function openGit(settings: GitSettings): Git {
  const surroundings = {
    path: settings.path ?? USUAL_PATH,
    deadlineSeconds: settings.deadlineSeconds ?? DEADLINE_SECONDS,
    fetchLimitMiB: settings.fetchLimitMiB,
    memoryMiB: BASE_MEMORY_MIB + settings.fetchLimitMiB,
  }
  const closing = new AbortController()
  let home: Promise<ProcessDir> | undefined

  // What failed once, such as a folder that is full, may work again.
  function forget(error: unknown): never {
    home = undefined
    throw error
  }

  async function inSession<T>(
    target: { readonly address: RepositoryAddress; readonly login: Login; readonly signal: AbortSignal },
    work: (session: Session) => Promise<T>,
  ): Promise<T> {
    const { address, login, signal } = target
    stopIfAborted(signal)
    const route = await findRoute(address, settings, signal)
    home ??= openProcessDir(settings.tempDir, settings)
    const { folder, withBundle } = await home.catch(forget)
    return withBundle((authorities) =>
      inWorkspace(folder, (workspace) =>
        inTransport({ ...route, address, login, authorities }, signal, (transport) =>
          work(openSession(surroundings, transport, { workspace, signal })),
        ),
      ),
    )
  }

  async function landBatch({ entries, address, login, signal }: Batch): Promise<void> {
    try {
      await inSession({ address, login, signal }, (session) => land(session, entries))
    } catch (error) {
      for (const entry of entries) entry.settle(asFailure(error))
    }
  }

  const queue = makeGroupCommit(landBatch)
  const searches = new Set<Promise<unknown>>()
  return {
    async push(change, login, signal) {
      return queue.push(change, login, AbortSignal.any([signal, closing.signal]))
    },
    async find(change, login, signal) {
      const target = { address: change.repository, login, signal: AbortSignal.any([signal, closing.signal]) }
      const search = inSession(target, (session) => findOne(session, change))
      searches.add(search)
      try {
        return await search
      } catch (error) {
        throw asFailure(error)
      } finally {
        searches.delete(search)
      }
    },
    async close() {
      closing.abort(
        new Failure(
          'Timeout',
          'Commitlet was stopped before the remote had taken the commit; it is tried again.',
        ),
      )
      await Promise.all([queue.idle(), Promise.allSettled(searches)])
      const opened = await home?.catch(() => undefined)
      if (opened !== undefined) await rm(opened.folder, { recursive: true, force: true })
    },
  }
}
