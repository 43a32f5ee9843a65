import { LRUCache } from 'lru-cache'
import { Failure } from '../domain/failure.ts'
import { movedMeanwhile } from './branch.ts'
import { isBusy } from './direct/memory.ts'
import { isOfBranch } from './direct/of-branch.ts'
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
/** Most repositories and branches with a login each. */
const MOST_REMEMBERED = 10_000

/**
 * The direct engine, and the git binary for what that cannot do. One rule: a Failure is a verdict and stands, whoever
 * gives it; any other error of the direct engine means that it cannot go on, so the session continues with the git
 * binary. So do all sessions of that login with the repository for the next ten minutes, or with that branch of it where the cause
 * is there: with the operator's login others write, too, and anybody who may push has branches. What a change needs the git
 * binary for says nothing of the next one. `handedOver` is called once for each such session of the direct engine.
 */
export function chooseEngine(
  { direct, binary }: Engines,
  handedOver: (handOver: HandOver) => void = () => undefined,
): Engine {
  const remembered = new LRUCache<string, true>({ max: MOST_REMEMBERED, ttl: REMEMBERED_MS })

  return {
    async open(target) {
      const { text } = target.address
      const ofRepository = [target.login.identity, text]
      const keys = {
        repository: JSON.stringify(ofRepository),
        branch: JSON.stringify([...ofRepository, target.branch ?? '']),
      }
      if (remembered.has(keys.repository) || remembered.has(keys.branch)) return binary.open(target)
      function declined(error: unknown, step: Step): undefined {
        if (error instanceof Failure) throw error
        stopIfAborted(target.signal)
        const reach = reachOf(error, step)
        if (reach !== 'session') remembered.set(keys[reach], true)
        handedOver({ url: text, why: reasonOf(error) })
      }
      const first = await direct.open(target).catch((error: unknown) => declined(error, 'remote'))
      return first === undefined
        ? binary.open(target)
        : switchingRemote(first, () => binary.open(target), declined)
    },
    async close() {
      await Promise.all([direct.close(), binary.close()])
    },
  }
}

/** What a session was about to do: with the remote whatever the change, read trees of the branch, or what a change needs. */
type Step = 'remote' | 'trees' | 'change'

/** For which later sessions an error is remembered; `session`: for none. */
function reachOf(error: unknown, step: Step): 'repository' | 'branch' | 'session' {
  if (isBusy(error) || step === 'change') return 'session'
  if (isOfBranch(error)) return 'branch'
  return step === 'trees' ? 'session' : 'repository'
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
  declined: (error: unknown, step: Step) => void,
): Remote {
  const { url } = first
  let wanted: WantedTip = { branch: undefined }
  let current = first

  async function changeOver(error: unknown, step: Step): Promise<Remote> {
    if (current !== first) throw error
    declined(error, step)
    current = await openOther()
    return current
  }

  /** What is asked about a tip is asked again about the same tip, which the git binary has to read first. */
  async function ask<T>(step: Step, tip: Tip, work: (remote: Remote) => Promise<T>): Promise<T> {
    try {
      return await work(current)
    } catch (error) {
      const other = await changeOver(error, step)
      const again = await other.readTip({ ...wanted, fresh: true })
      if (again === 'moved' || again.commit !== tip.commit) throw movedMeanwhile(url)
      return work(other)
    }
  }

  return {
    url,
    get signal() {
      return current.signal
    },
    async readTip(next) {
      wanted = next
      return current
        .readTip(next)
        .catch(async (error: unknown) => (await changeOver(error, 'remote')).readTip(next))
    },
    readTree: (tip, paths) => ask('trees', tip, (remote) => remote.readTree(tip, paths)),
    readBlobs: (tip, oids, most) => ask('change', tip, (remote) => remote.readBlobs(tip, oids, most)),
    writeCommits: (tip, commits) => ask('change', tip, (remote) => remote.writeCommits(tip, commits)),
    askToPush: (tip) => ask('remote', tip, (remote) => remote.askToPush(tip)),
    findLanded: (tip, sought) => ask('change', tip, (remote) => remote.findLanded(tip, sought)),
    async push(tip, head, remaining) {
      try {
        return await current.push(tip, head, remaining)
      } catch (error) {
        // The commits are with the direct engine. The next round reads the tip again, and writes them again.
        await changeOver(error, 'remote')
        return { kind: 'race' }
      }
    },
    async close() {
      await Promise.all([first, ...(current === first ? [] : [current])].map((remote) => remote.close()))
    },
  }
}
