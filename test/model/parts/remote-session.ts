import { Failure } from '../../../functions/domain/failure.ts'
import type { NewCommit, Pushed, Remote, Tip } from '../../../functions/git/remote.ts'
import { judgeByTip, refuse } from '../../../functions/git/output/push-verdict.ts'
import { blobName, pathsTo } from '../../../functions/git/tree.ts'
import { LOST, type CallKind } from './program.ts'

/** A commit as the remote keeps it. There is one file, in which the version of its content stands. */
export interface RemoteCommit {
  readonly name: string
  /** The Commitlet-Id of its message; empty for other writers. */
  readonly id: string
  /** The version of the content, and its name in Git; 0 and empty before the first. */
  readonly version: number
  readonly blob: string
}

/** What a push asks for: the branch moves from the lease to the last commit, or not at all. */
export interface PushRequest {
  readonly lease: string
  readonly commits: readonly RemoteCommit[]
}

/** What a read of the branch answers: the commits from the first to the tip. */
export type TipAnswer = readonly RemoteCommit[]

/** The engine of one pod: what it keeps between sessions. */
export interface Engine {
  /** The tip that it remembers; undefined: none. */
  remembered: RemoteCommit | undefined
  written: number
}

/** Asks the remote. */
export type AskRemote = (kind: Extract<CallKind, 'tip' | 'ref' | 'push'>, text: string) => Promise<string>

const URL = 'https://git.example.com/acme/config.git'
const BRANCH = 'main'

/** A session with the remote, as an engine of functions/git implements the port. `searches`: whether it finds anything. */
export function openRemote(ask: AskRemote, engine: Engine, searches: boolean): Remote {
  const known = new Map<string, RemoteCommit>()
  const written = new Map<string, PushRequest['commits']>()
  let history: TipAnswer = []

  async function read(): Promise<TipAnswer> {
    const text = await ask('tip', '')
    if (text === LOST) throw unreachable()
    const commits: TipAnswer = JSON.parse(text)
    return commits
  }

  return {
    url: URL,
    signal: new AbortController().signal,
    async readTip({ since, fresh = false }) {
      const { remembered } = engine
      if (remembered !== undefined && since === undefined && !fresh) {
        known.set(remembered.name, remembered)
        return { branch: BRANCH, commit: remembered.name, exists: true, remembered: true }
      }
      history = await read()
      const tip = history.at(-1)
      if (tip === undefined) throw new Error('The branch has a commit at its beginning')
      known.set(tip.name, tip)
      engine.remembered = tip
      return { branch: BRANCH, commit: tip.name, exists: true }
    },
    async readTree({ commit = '' }, paths) {
      const { blob = '' } = known.get(commit) ?? {}
      if (blob === '') return new Map()
      const [path = ''] = paths
      return new Map(
        pathsTo(path).map((part) => [
          part,
          part === path ? { mode: '100644', oid: blob } : { mode: '040000', oid: 'd' },
        ]),
      )
    },
    // Its changes write whole files.
    readBlobs: () => Promise.resolve(new Map()),
    async writeCommits({ commit = '' }, commits) {
      const made = commits.map((one) => {
        engine.written += 1
        const name = nameOfOwn(engine.written)
        const empty = one.files.length === 0 ? known.get(commit) : undefined
        return empty === undefined ? commitOf(one, name) : { ...empty, name, id: '' }
      })
      made.forEach((one, i) => written.set(one.name, made.slice(0, i + 1)))
      return made.map(({ name }) => name)
    },
    async push(tip, head, remaining = () => Infinity) {
      if (remaining() <= 0) return { kind: 'race' }
      const request: PushRequest = { lease: tip.commit ?? '', commits: written.get(head) ?? [] }
      const answer = await ask('push', JSON.stringify(request))
      const pushed = await verdict(answer, tip, head)
      if (pushed.kind === 'landed') engine.remembered = request.commits.at(-1)
      return pushed
    },
    // Nobody asks before a push.
    askToPush: () => Promise.resolve(),
    async findLanded(_tip, sought) {
      if (!searches) return sought.map(() => undefined)
      return sought.map(({ id }) => history.findLast((commit) => commit.id === id)?.name)
    },
    close: () => Promise.resolve(),
  }

  /** As both engines judge a push: one without an answer by where the branch is now. */
  async function verdict(answer: string, tip: Tip, head: string): Promise<Pushed> {
    if (answer === 'landed' || answer === 'race') return { kind: answer }
    const readRef = async (): Promise<string> => {
      const text = await ask('ref', '')
      if (text === LOST) throw unreachable()
      return text
    }
    return judgeByTip(readRef, { tip, head }, refuse(unreachable()))
  }
}

function commitOf({ message, files: [file] }: NewCommit, name: string): RemoteCommit {
  const content = file?.content ?? new Uint8Array()
  const [, id = ''] = /^Commitlet-Id: (\S+)$/m.exec(message) ?? []
  const [, version = ''] = /version: "(\d)"/.exec(Buffer.from(content).toString()) ?? []
  return { name, id, version: Number(version), blob: blobName(content) }
}

/** The names of commits that a program has made itself begin with c9; see tokens.ts. */
function nameOfOwn(number: number): string {
  return `c9${String(number).padStart(10, '0')}${'0'.repeat(28)}`
}

function unreachable(): Failure {
  return new Failure('NetworkError', `${URL} could not be reached; Commitlet retries automatically.`)
}
