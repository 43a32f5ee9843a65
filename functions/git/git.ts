import { rm } from 'node:fs/promises'
import type { Change, Landed, Login } from '../domain/change.ts'
import { Failure } from '../domain/failure.ts'
import { openHome, type Home } from './home.ts'
import { makeQueue, type Batch } from './queue.ts'
import { openSession } from './session.ts'
import { inWorkspace } from './workspace.ts'
import { asFailure, land } from './writer.ts'

/** What main.ts hands in. */
export interface GitSettings {
  /**
   * Existing folder, best memory-backed; everything below it that is made here is removed again, by the next
   * process where this one is killed. Not for containers to share: one does not see that another's process lives.
   */
  readonly tempDir: string
  /** CA_FILE: PEM file of authorities that are trusted besides the system's. */
  readonly caFile: string | undefined
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
  /** Fails what is on its way, waits until no process is left, and removes every file. */
  close(): Promise<void>
}

const USUAL_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'
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
  let home: Promise<Home> | undefined

  // What failed once (a folder that is full, a file that is not there) may be mended.
  function forget(error: unknown): never {
    home = undefined
    throw error
  }

  async function landBatch(batch: Batch): Promise<void> {
    try {
      home ??= openHome(settings.tempDir, settings.caFile)
      const { folder, authorities } = await home.catch(forget)
      await inWorkspace(folder, async (workspace) => {
        const address = batch.entries[0]?.change.repository
        if (address === undefined) return
        const remote = { address, login: batch.login, authorities }
        await land(openSession(surroundings, remote, { workspace, signal: batch.signal }), batch.entries)
      })
    } catch (error) {
      for (const entry of batch.entries) entry.settle(asFailure(error))
    }
  }

  const queue = makeQueue(landBatch)
  return {
    push(change, login, signal) {
      if (change.repository.scheme === 'https')
        return queue.push(change, login, AbortSignal.any([signal, closing.signal]))
      return Promise.reject(
        new Failure(
          'NotSupported',
          `Commitlet does not push over SSH yet (${change.repository.text}); use the https:// address.`,
        ),
      )
    },
    async close() {
      closing.abort(
        new Failure(
          'Timeout',
          'Commitlet was stopped before the remote had taken the commit; it is tried again.',
        ),
      )
      await queue.idle()
      const opened = await home?.catch(() => undefined)
      if (opened !== undefined) await rm(opened.folder, { recursive: true, force: true })
    },
  }
}
