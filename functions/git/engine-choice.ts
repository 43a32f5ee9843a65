import { LRUCache } from 'lru-cache'
import { Failure } from '../domain/failure.ts'
import { movedMeanwhile } from './branch.ts'
import { isBusy } from './direct/memory.ts'
import { stopIfAborted } from './process/launcher.ts'
import { isProtocolError } from './protocol/protocol-error.ts'
import type { Engine, Remote, Tip, WantedTip } from './remote.ts'

/** Both ways to talk to remotes. */
export interface Engines {
  /** Speaks the protocol itself: tried first. */
  readonly direct: Engine
  /** Runs the git binary: does everything. */
  readonly binary: Engine
}

/** A session that the direct engine has handed to the git binary. */
export interface HandOver {
  /** The repository's address. */
  readonly url: string
  /** What the direct engine cannot do; no text of the server. */
  readonly why: string
}

/** How long a repository is left to the git binary: a server may be upgraded, or may have been broken. */
const REMEMBERED_MS = 10 * 60_000
/** Most repositories with a login each. */
const MOST_REMEMBERED = 10_000

/**
 * The direct engine, and the git binary for what that cannot do. One rule: a Failure is a verdict and stands, whoever
 * gives it; any other error of the direct engine means that it cannot go on, so the session continues with the git
 * binary, and so do all sessions of that login with the repository for the next ten minutes: what it wants to write may be the
 * cause. `handedOver` is called once for each such session of the direct engine.
 */
export function chooseEngine(
  { direct, binary }: Engines,
  handedOver: (handOver: HandOver) => void = () => undefined,
): Engine {
  const remembered = new LRUCache<string, true>({ max: MOST_REMEMBERED, ttl: REMEMBERED_MS })

  return {
    async open(target) {
      const { text } = target.address
      const key = `${target.login.identity} ${text}`
      if (remembered.has(key)) return binary.open(target)
      function declined(error: unknown): undefined {
        if (error instanceof Failure) throw error
        stopIfAborted(target.signal)
        if (!isBusy(error)) remembered.set(key, true)
        handedOver({ url: text, why: reasonOf(error) })
      }
      const first = await direct.open(target).catch(declined)
      return first === undefined
        ? binary.open(target)
        : switchingRemote(first, () => binary.open(target), declined)
    },
    async close() {
      await Promise.all([direct.close(), binary.close()])
    },
  }
}

/** What the error says, unless the server itself has said it. */
function reasonOf(error: unknown): string {
  if (isProtocolError(error, 'REMOTE')) return 'the server reports an error'
  return error instanceof Error ? error.message : 'an unknown error'
}

/** Begins with one engine's session, and changes to the other's for good where `declined` does not throw. */
function switchingRemote(
  first: Remote,
  openOther: () => Promise<Remote>,
  declined: (error: unknown) => void,
): Remote {
  const { url } = first
  let wanted: WantedTip = { branch: undefined }
  let current = first

  async function changeOver(error: unknown): Promise<Remote> {
    if (current !== first) throw error
    declined(error)
    current = await openOther()
    return current
  }

  /** What is asked about a tip is asked again about the same tip, which the git binary has to read first. */
  async function ask<T>(tip: Tip, work: (remote: Remote) => Promise<T>): Promise<T> {
    try {
      return await work(current)
    } catch (error) {
      const other = await changeOver(error)
      const again = await other.readTip({ ...wanted, fresh: true })
      if (again === 'moved' || again.commit !== tip.commit) throw movedMeanwhile(url)
      return work(other)
    }
  }

  return {
    url,
    async readTip(next) {
      wanted = next
      return current.readTip(next).catch(async (error: unknown) => (await changeOver(error)).readTip(next))
    },
    readTree: (tip, paths) => ask(tip, (remote) => remote.readTree(tip, paths)),
    readBlobs: (tip, oids, most) => ask(tip, (remote) => remote.readBlobs(tip, oids, most)),
    writeCommits: (tip, commits) => ask(tip, (remote) => remote.writeCommits(tip, commits)),
    askToPush: (tip) => ask(tip, (remote) => remote.askToPush(tip)),
    findLanded: (tip, sought) => ask(tip, (remote) => remote.findLanded(tip, sought)),
    async push(tip, head, remaining) {
      try {
        return await current.push(tip, head, remaining)
      } catch (error) {
        // The commits are with the direct engine. The next round reads the tip again, and writes them again.
        await changeOver(error)
        return { kind: 'race' }
      }
    },
    async close() {
      await Promise.all([first, ...(current === first ? [] : [current])].map((remote) => remote.close()))
    },
  }
}
