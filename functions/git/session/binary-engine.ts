import { rm } from 'node:fs/promises'
import type { Trusted } from '../process/bundle.ts'
import { openProcessDir, type ProcessDir } from '../process/process-dir.ts'
import { USUAL_PATH } from '../process/required-programs.ts'
import { openWorkspace } from '../process/workspace.ts'
import type { Engine, Remote, RemoteTarget } from '../remote.ts'
import { fastImport } from './fast-import.ts'
import { fetchTip } from './fetch.ts'
import { searchHistory } from './history.ts'
import { listTree } from './list-tree.ts'
import { pushOnce } from './push.ts'
import { openSession, type Session } from './session.ts'
import { openTransport } from './transport.ts'

/** The operator's settings for the engine. */
export interface BinarySettings extends Trusted {
  /**
   * An existing folder, preferably memory-backed. The engine removes everything that it creates below it; if this
   * process is killed, the next one does. Containers must not share it: one cannot see the other's processes.
   */
  readonly tempDir: string
  /** FETCH_LIMIT. */
  readonly fetchLimitMiB: number
  /** ATTEMPT_DEADLINE: no git process lives longer, even if no signal reaches it; default 120. */
  readonly deadlineSeconds?: number
  /** PATH with sh, setpriv, timeout and git; default: USUAL_PATH. */
  readonly path?: string
}

const DEADLINE_SECONDS = 120
// What git needs in addition to what it fetches.
const BASE_MEMORY_MIB = 256

/** The engine that runs the git binary; no file is read or written before the first session. */
export function openBinaryEngine(settings: BinarySettings): Engine {
  const { fetchLimitMiB } = settings
  const sessionSettings = {
    path: settings.path ?? USUAL_PATH,
    deadlineSeconds: settings.deadlineSeconds ?? DEADLINE_SECONDS,
    fetchLimitMiB,
    memoryMiB: BASE_MEMORY_MIB + fetchLimitMiB,
  }
  let processDir: Promise<ProcessDir> | undefined

  // An error such as a full folder may be temporary: the next call tries again.
  function forget(error: unknown): never {
    processDir = undefined
    throw error
  }

  async function open(target: RemoteTarget): Promise<Remote> {
    const { address, route, login, signal } = target
    processDir ??= openProcessDir(settings.tempDir, settings)
    const { folder, acquireBundle } = await processDir.catch(forget)
    const ends: (() => unknown)[] = []
    async function close(): Promise<void> {
      const end = ends.pop()
      if (end === undefined) return
      try {
        await end()
      } finally {
        await close()
      }
    }
    try {
      const bundle = await acquireBundle()
      ends.push(bundle.release)
      const workspace = await openWorkspace(folder)
      ends.push(workspace.remove)
      const transport = await openTransport({ ...route, address, authorities: bundle.file }, login, signal)
      ends.push(transport.close)
      return binaryRemote(openSession(sessionSettings, transport, { workspace, signal }), close)
    } catch (error) {
      await close()
      throw error
    }
  }

  return {
    open,
    async close() {
      const opened = await processDir?.catch(() => undefined)
      if (opened !== undefined) await rm(opened.folder, { recursive: true, force: true })
    },
  }
}

/** Implements the port with the git binary: one file of this room for each of its functions. */
export function binaryRemote(session: Session, close: () => Promise<void>): Remote {
  return {
    url: session.context.url,
    readTip: (wanted) => fetchTip(session, wanted),
    readTree: (tip, paths) => listTree(session, tip.commit, paths),
    writeCommits: (tip, commits) => fastImport(session, tip.commit, commits),
    push: (tip, head) => pushOnce(session, tip, head),
    findLanded: (tip, sought) => searchHistory(session, tip.branch, sought),
    close,
  }
}
