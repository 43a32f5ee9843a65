import { rm } from 'node:fs/promises'
import { anySignal } from '../../domain/deadline.ts'
import { Failure } from '../../domain/failure.ts'
import type { Trusted } from '../process/bundle.ts'
import { watchMemory, type PodMemory } from '../process/memory-watch.ts'
import { stopIfAborted } from '../process/launcher.ts'
import { openProcessDir, type ProcessDir } from '../process/process-dir.ts'
import { USUAL_PATH } from '../process/required-programs.ts'
import { openWorkspace } from '../process/workspace.ts'
import { paceGits } from '../process/young-gits.ts'
import type { Engine, NewCommit, Remote, RemoteTarget } from '../remote.ts'
import type { SSHSessions } from '../ssh/sessions.ts'
import { fetchTip, refOf } from './fetch.ts'
import { readBlobs } from './read-blobs.ts'
import { searchHistory } from './history.ts'
import { FIRST_CPU_SECONDS, FIRST_LIMITS, memoryOf, mostCPUSeconds, type SessionLimits } from './limits.ts'
import { listTree } from './list-tree.ts'
import { askToPush, pushOnce } from './push.ts'
import { openSession, type Session } from './session.ts'
import { openTransport } from './transport.ts'
import { writeCommits } from './write-commits.ts'

/** The operator's settings for the engine. */
export interface BinarySettings extends Trusted {
  /**
   * An existing folder, preferably memory-backed. The engine removes everything that it creates below it; if this
   * process is killed, the next one does. Containers must not share it: one cannot see the other's processes.
   */
  readonly tempDir: string
  /** MiB that one attempt may fetch: FETCH_LIMIT, or less if the pod is small. */
  readonly fetchLimitMiB: number
  /** Most private memory in MiB of each git process, for a session that has a large share; default 128. */
  readonly memoryMiB?: number
  /** Waits for a large share of the pod's memory; default: there is always enough. */
  readonly acquireLarge?: AcquireLarge
  /** Where little of it is free, sessions are ended; default: there is always enough. */
  readonly podMemory?: PodMemory
  /** ATTEMPT_DEADLINE: no git process lives longer, even if no signal reaches it; default DEADLINE_SECONDS. */
  readonly deadlineSeconds?: number
  /** PATH with sh, nice, setpriv, timeout and git; default: USUAL_PATH. */
  readonly path?: string
}

/** Who needs a large share. */
export interface LargeHolder {
  readonly namespace: string
  readonly host: string
  /** The session; no other has the same. */
  readonly resource: string
  /** Ends the session with this Failure, because others wait for its share. */
  readonly giveWay: (because: Failure) => void
}

/** Returns how the share is given back. Throws a Failure, or returns nothing, if there is none. */
export type AcquireLarge = (holder: LargeHolder, signal: AbortSignal) => Promise<(() => void) | undefined>

/** The default of ATTEMPT_DEADLINE. */
export const DEADLINE_SECONDS = 120
const MEMORY_MIB = 128

/** The engine that runs the git binary; no file is read or written before the first session. */
export function openBinaryEngine(settings: BinarySettings, ssh: SSHSessions): Engine {
  const { fetchLimitMiB } = settings
  const deadlineSeconds = settings.deadlineSeconds ?? DEADLINE_SECONDS
  const sessionSettings = {
    path: settings.path ?? USUAL_PATH,
    deadlineSeconds,
    fetchLimitMiB,
    limits: {
      ...FIRST_LIMITS,
      fileMiB: Math.min(FIRST_LIMITS.fileMiB, fetchLimitMiB),
      cpuSeconds: FIRST_CPU_SECONDS,
    },
  }
  const largeLimits = {
    memoryMiB: settings.memoryMiB ?? MEMORY_MIB,
    fileMiB: fetchLimitMiB,
    cpuSeconds: mostCPUSeconds(deadlineSeconds),
  }
  const acquireLarge = settings.acquireLarge ?? (() => Promise.resolve(noop))
  const watch = settings.podMemory === undefined ? () => noop : watchMemory(settings.podMemory)
  const beginGits = paceGits()
  let processDir: Promise<ProcessDir> | undefined

  // An error such as a full folder may be temporary: the next call tries again.
  function forget(error: unknown): never {
    processDir = undefined
    throw error
  }

  async function open(target: RemoteTarget): Promise<Remote> {
    const { address, route, login, namespace, turn } = target
    const watched = new AbortController()
    const signal = anySignal([target.signal, watched.signal])
    processDir ??= openProcessDir(settings.tempDir, settings)
    const { folder, acquireBundle } = await processDir.catch(forget)
    let limits: SessionLimits = sessionSettings.limits
    const session = {
      namespace,
      mayHoldMiB: () => memoryOf(limits) + limits.fileMiB,
      end: () => watched.abort(noMemory(address.text)),
    }
    const ends: (() => unknown)[] = [watch(session)]
    async function close(): Promise<void> {
      const end = ends.pop()
      if (end === undefined) return
      try {
        await end()
      } finally {
        await close()
      }
    }
    async function raise(session: string): Promise<SessionLimits> {
      // Half of the time is left for the work itself.
      const patience = anySignal([signal, AbortSignal.timeout(deadlineSeconds * 500)])
      const giveWay = (because: Failure): void => watched.abort(because)
      const holder = { namespace, host: address.host, resource: session, giveWay }
      const release = await acquireLarge(holder, patience).catch(() => undefined)
      // Last of all: until then the folder holds what was fetched.
      if (release !== undefined) ends.unshift(release)
      stopIfAborted(signal)
      if (release === undefined) throw busy(address.text)
      limits = largeLimits
      return limits
    }

    try {
      // First of all: what waits for its git to begin has logged in nowhere.
      const pace = await beginGits(namespace, signal)
      ends.push(pace.close)
      const bundle = await acquireBundle()
      ends.push(bundle.release)
      const workspace = await openWorkspace(folder)
      ends.push(workspace.remove)
      const destination = { ...route, address, authorities: bundle.file, ssh, turn }
      const transport = await openTransport(destination, login, signal)
      ends.push(transport.close)
      const place = { workspace, signal, raise: () => raise(workspace.folder), begin: pace.begin }
      return binaryRemote(openSession(sessionSettings, transport, place), close)
    } catch (error) {
      await close()
      throw error
    }
  }

  return {
    open,
    async close() {
      const opened = await processDir?.catch(() => undefined)
      if (opened !== undefined) await rm(opened.folder, { recursive: true, force: true, maxRetries: 5 })
    },
  }
}

function busy(url: string): Failure {
  return new Failure(
    'Conflict',
    `${url} has more refs or files than most, and other such repositories take all memory that Commitlet has for them at the moment; Commitlet retries automatically, and your Commitlet operator may give it more memory.`,
  )
}

function noMemory(url: string): Failure {
  return new Failure(
    'Conflict',
    `Commitlet has no memory left at the moment for a session with ${url}, as for others of the same namespace; Commitlet retries automatically, and your Commitlet operator may give it more memory.`,
  )
}

/** Implements the port with the git binary: one file of this room for each of its functions. */
export function binaryRemote(session: Session, close: () => Promise<void>): Remote {
  let written: readonly NewCommit[] = []
  let since: Date | undefined
  return {
    url: session.context.url,
    signal: session.signal,
    readTip(wanted) {
      since = wanted.since
      return fetchTip(session, wanted)
    },
    readTree: (tip, paths) => listTree(session, tip.commit, paths),
    readBlobs: (_tip, oids, most) => readBlobs(session, oids, most),
    writeCommits(tip, commits) {
      written = commits
      return writeCommits(session, tip.commit, commits)
    },
    push: (tip, head, remaining) =>
      pushOnce(session, { tip, head, commits: head === tip.commit ? [] : written }, remaining),
    askToPush: (tip) => askToPush(session, tip),
    findLanded: (tip, sought) => searchHistory(session, { ref: refOf(tip), sought, since }),
    close,
  }
}

function noop(): void {
  return undefined
}
