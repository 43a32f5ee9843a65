import { createHash } from 'node:crypto'
import type { NewCommit, Pushed, Remote, Tip } from '../../../functions/git/remote.ts'
import { blobName, pathsTo, type Tree, type TreeEntry } from '../../../functions/git/tree.ts'

export const URL = 'https://git.example.com/acme/shop.git'

/** Files by path: their content, or with a mode (100755, 120000, 160000). */
export type MemoryFiles = Readonly<
  Record<string, string | { readonly mode: string; readonly content: string }>
>

interface Stored {
  readonly parent: string | undefined
  readonly message: string
  /** Files without directories. */
  readonly tree: ReadonlyMap<string, TreeEntry>
  readonly paths: readonly string[]
}

/** A repository in memory, seen from the server's side, and what its server does with a push. */
export interface MemoryRepository {
  /** The commit of a branch; undefined: it is not there. */
  tip(branch?: string): string | undefined
  /** Subjects of the branch, newest first. */
  log(branch?: string): readonly string[]
  /** The changes of a commit; without a name, the branch's content by path. */
  paths(commit: string): readonly string[]
  holds(path: string, text: string): boolean
  /** Another writer: one commit on the branch; returns its name. */
  commit(files: MemoryFiles, options?: { readonly branch?: string; readonly message?: string }): string
  /** The content of a file of `main`. */
  text(path: string): string | undefined
  /** The names of the files that were read, one entry for each request. */
  readonly reads: readonly (readonly string[])[]
  /** How many pushes came. */
  readonly pushes: number
  /** How many sessions are open. */
  readonly opened: number
  /** Called with each push before it is checked; a result other than undefined is that of the push. */
  onPush: (commits: readonly NewCommit[], push: { readonly land: () => void }) => Pushed | undefined
  /** Called with each read of the tip from the server. */
  onRead: () => 'moved' | undefined
  /** Where its engine remembers `main` to be. */
  remembered: string | undefined
  open(): Remote
}

/** A repository whose default branch `main` has one commit of these files. */
export function memoryRepository(files: MemoryFiles = { 'README.md': 'x' }): MemoryRepository {
  const commits = new Map<string, Stored>()
  const branches = new Map<string, string>()
  const blobs = new Map<string, Uint8Array>()
  const reads: (readonly string[])[] = []
  let [pushes, opened] = [0, 0]

  function store(stored: Stored): string {
    const text = JSON.stringify([stored.parent, stored.message, [...stored.tree], commits.size])
    const name = createHash('sha1').update(text).digest('hex')
    commits.set(name, stored)
    return name
  }

  function filesOf(commit: string | undefined): ReadonlyMap<string, TreeEntry> {
    return commit === undefined ? new Map() : (commits.get(commit)?.tree ?? new Map<string, TreeEntry>())
  }

  function write(parent: string | undefined, { files: written, message }: NewCommit): string {
    const entries = written.flatMap((file) => {
      if (file.content === undefined) return []
      const oid = blobName(file.content)
      blobs.set(oid, file.content)
      return [[file.path, { mode: file.mode, oid }] as const]
    })
    const removed = new Set(written.flatMap(({ path, content }) => (content === undefined ? [path] : [])))
    // What is in the way is replaced, as git fast-import does.
    const kept = [...filesOf(parent)].filter(
      ([path]) =>
        !removed.has(path) &&
        written.every((file) => !path.startsWith(`${file.path}/`) && !file.path.startsWith(`${path}/`)),
    )
    const paths = written.map(({ path }) => path)
    return store({ parent, message, paths, tree: new Map([...kept, ...entries]) })
  }

  function history(commit: string | undefined): readonly string[] {
    const names: string[] = []
    for (let at = commit; at !== undefined; at = commits.get(at)?.parent) names.push(at)
    return names
  }

  const repository: MemoryRepository = {
    tip: (branch = 'main') => branches.get(branch),
    log: (branch = 'main') =>
      history(branches.get(branch)).map((name) => commits.get(name)?.message.split('\n')[0] ?? ''),
    paths: (commit) => commits.get(commit)?.paths ?? [],
    holds: (path, text) => filesOf(branches.get('main')).get(path)?.oid === blobName(Buffer.from(text)),
    commit(content, { branch = 'main', message = 'Another writer was here\n' } = {}) {
      const written = Object.entries(content).map(([path, file]) => ({
        path,
        mode: typeof file === 'string' ? '100644' : file.mode,
        content: Buffer.from(typeof file === 'string' ? file : file.content),
      }))
      const parent = branches.get(branch) ?? branches.get('main')
      const author = { name: 'Another', email: 'another@example.com' }
      const name = write(parent, { files: written, message, author, date: new Date() })
      branches.set(branch, name)
      return name
    },
    text(path) {
      const content = blobs.get(filesOf(branches.get('main')).get(path)?.oid ?? '')
      return content === undefined ? undefined : Buffer.from(content).toString()
    },
    reads,
    get pushes() {
      return pushes
    },
    get opened() {
      return opened
    },
    onPush: () => undefined,
    onRead: () => undefined,
    remembered: undefined,
    open: openRemote,
  }

  function openRemote(): Remote {
    opened += 1
    const pending = new Map<string, NewCommit>()
    return {
      url: URL,
      signal: new AbortController().signal,
      async readTip({ branch = 'main', since, fresh = false }) {
        const { remembered } = repository
        if (remembered !== undefined && branch === 'main' && since === undefined && !fresh)
          return { branch, commit: remembered, exists: true, remembered: true }
        const commit = branches.get(branch)
        return (
          repository.onRead() ?? {
            branch,
            commit: commit ?? branches.get('main'),
            exists: commit !== undefined,
          }
        )
      },
      async readTree({ commit }, paths) {
        const wanted = new Set(paths.flatMap(pathsTo))
        return new Map([...withDirectories(filesOf(commit))].filter(([path]) => wanted.has(path)))
      },
      async readBlobs(_tip, oids, most) {
        reads.push(oids)
        return new Map(
          oids.flatMap((oid) => {
            const content = blobs.get(oid)
            return content === undefined || content.length > most ? [] : [[oid, content] as const]
          }),
        )
      },
      async writeCommits({ commit }, news) {
        let parent = commit
        return news.map((one) => {
          parent = write(parent, one)
          pending.set(parent, one)
          return parent
        })
      },
      askToPush: () => Promise.resolve(),
      async push({ branch, commit, exists }, head, remaining = () => Infinity) {
        if (remaining() <= 0) return { kind: 'race' }
        pushes += 1
        const land = (): void => void branches.set(branch, head)
        const sent = history(head).flatMap((name) => pending.get(name) ?? [])
        const answer = repository.onPush(sent.toReversed(), { land })
        if (answer !== undefined) return answer
        if (branches.get(branch) !== (exists ? commit : undefined)) return { kind: 'race' }
        land()
        return { kind: 'landed' }
      },
      async findLanded(tip: Tip, sought) {
        return sought.map(({ id, paths }) =>
          history(tip.commit).find((name) => {
            const stored = commits.get(name)
            const named = stored?.message.split('\n').includes(`Commitlet-Id: ${id}`) === true
            return named && paths.some((path) => stored.paths.includes(path))
          }),
        )
      },
      async close() {
        opened -= 1
      },
    }
  }

  repository.commit(files, { message: 'Begin\n' })
  return repository
}

function withDirectories(files: ReadonlyMap<string, TreeEntry>): Tree {
  const directories = [...files.keys()].flatMap((path) => pathsTo(path).slice(0, -1))
  return new Map([...directories.map((path) => [path, { mode: '040000', oid: 'd' }] as const), ...files])
}
