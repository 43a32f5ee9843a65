import type { ApiCommitTerms, CommitByAPI } from '../domain/commit/commit-by-api.ts'
import { searchedFrom } from '../domain/commit/clock-margin.ts'
import { asFailure, Failure } from '../domain/failure.ts'
import type { NewCommit, Pushed, Remote, Tip } from './remote.ts'

/** It stands for a commit until the host has named it. */
const UNNAMED = 'unnamed'

/**
 * The same remote, whose commits the host makes itself when they are pushed, one with each push. Everything is read as
 * before, but no tip is remembered, and a branch that is not there yet is refused, because the API makes none. After an
 * answer that was lost, the history is searched once; if the commit is not there, the session ends with that failure, and
 * the next attempt searches again.
 */
export function throughAPI(remote: Remote, commitByAPI: CommitByAPI, terms: ApiCommitTerms): Remote {
  const { url } = remote
  let next: NewCommit | undefined
  let lost: Failure | undefined

  async function pushNext(tip: string, branch: string, remaining?: () => number): Promise<Pushed> {
    if (next === undefined) throw new Error('There is no commit to be made.')
    if (lost !== undefined) throw lost
    const { message, files } = next
    const commit = { branch, tip, message, files }
    const committed = await commitByAPI(commit, { ...terms, remaining }).catch(asFailure)
    if (committed instanceof Failure) return { kind: 'refused', failure: committed, each: true }
    if (committed.kind === 'landed') return { kind: 'landed', names: [committed.sha] }
    if (committed.kind === 'race') return committed
    lost = committed.failure
    return { kind: 'unknown' }
  }

  return {
    url,
    get signal() {
      return remote.signal
    },
    async readTip(wanted) {
      // The host's clock dates these commits: besides those of the writers, it may be wrong, too.
      const since = wanted.since && searchedFrom(wanted.since)
      const tip = await remote.readTip({ ...wanted, since, fresh: true })
      if (tip !== 'moved' && !tip.exists) throw noBranch(tip, url)
      return tip
    },
    readTree: (tip, paths) => remote.readTree(tip, paths),
    readBlobs: (tip, oids, most) => remote.readBlobs(tip, oids, most),
    writeCommits(_tip, commits) {
      const [only, ...others] = commits
      if (others.length > 0) throw new Error('An API makes one commit with each push.')
      next = only
      return Promise.resolve(commits.map(() => UNNAMED))
    },
    async push(tip, _head, remaining) {
      if (tip.commit === undefined) throw noBranch(tip, url)
      return pushNext(tip.commit, tip.branch, remaining)
    },
    askToPush: (tip) => remote.askToPush(tip),
    findLanded: (tip, sought) => remote.findLanded(tip, sought),
    close: () => remote.close(),
  }
}

function noBranch({ branch, commit }: Tip, url: string): Failure {
  const found =
    commit === undefined ? `${url} has no default branch yet` : `The branch ${branch} is not in ${url}`
  const message = `${found}, and the API makes no branch together with a commit; create the branch there and request another attempt, or leave out spec.commitVia.`
  return new Failure('NotSupported', message, { retry: 'slow' })
}
