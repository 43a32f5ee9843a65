import type { Remote } from '../remote.ts'
import { fastImport } from './fast-import.ts'
import { fetchTip } from './fetch.ts'
import { searchHistory } from './history.ts'
import { listTree } from './list-tree.ts'
import { pushOnce } from './push.ts'
import type { Session } from './session.ts'

/** The port by way of the git binary: one file of this room behind each of its functions. */
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
