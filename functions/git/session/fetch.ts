import { Failure } from '../../domain/failure.ts'
import { danglingHead, FIRST_BRANCH, movedMeanwhile, unnamedHead } from '../branch.ts'
import { GENERATIONS } from '../past-commit.ts'
import type { Tip, WantedTip } from '../remote.ts'
import { failureOf, type Meaning } from '../output/classify.ts'
import { BROKEN_OFF, NOT_GIT } from '../output/error-meaning.ts'
import type { Session } from './session.ts'
import type { OnlineResult } from './transport.ts'
import { isOtherFetched } from './fetch-head.ts'
import { isCutSince, keepKnownEdge } from './shallow.ts'
import { readDefaultBranch } from './symref.ts'

const FILTER = '--filter=blob:none'

/** Fetches without files, and without what Git would do besides. */
export const FETCH = ['fetch', '-q', '--no-tags', '--no-auto-maintenance', '--no-recurse-submodules', FILTER]
/** Where what is fetched stays. */
const BASE = 'refs/base'

/**
 * Fetches the tip of the branch without blobs and without history; with `since`, also the history since then.
 * `moved`: the remote changed while it was read.
 * @throws Failure for an error of the remote; RepositoryNotFound if it is not a Git server
 */
export async function fetchTip(session: Session, { branch, since }: WantedTip): Promise<Tip | 'moved'> {
  const first = await fetchRef(session, branch === undefined ? 'HEAD' : `refs/heads/${branch}`, since)
  if (first === 'race') return 'moved'
  if (first !== 'absent')
    return { branch: branch ?? (await nameDefaultBranch(session)), commit: first, exists: true }
  const start = branch === undefined ? first : await fetchRef(session, 'HEAD', since)
  if (start === 'race') return 'moved'
  if (start !== 'absent') return { branch: branch ?? FIRST_BRANCH, commit: start, exists: false }
  await mustBeEmpty(session)
  return { branch: branch ?? FIRST_BRANCH, commit: undefined, exists: false }
}

/** Where the history of a tip is fetched from: a branch that is missing would begin at HEAD. */
export function refOf({ branch, exists }: Pick<Tip, 'branch' | 'exists'>): string {
  return exists ? `refs/heads/${branch}` : 'HEAD'
}

/**
 * Fetches `by` more generations of commits, or more, below the edge of the fetched history.
 * @throws Failure for an error of the remote; Conflict if the ref has moved meanwhile
 */
export async function deepen(session: Session, ref: string, by: number): Promise<void> {
  const first = await fetchWith(session, [`--deepen=${by}`], ref)
  const fetched = first === 'depth alone' ? await fetchDeeper(session, ref, by) : first
  if (fetched === 'absent' || fetched === 'race') throw movedMeanwhile(session.context.url)
  if (fetched !== undefined) throw failureOf(BROKEN_OFF, session.context)
}

async function fetchDeeper(session: Session, ref: string, by: number): Promise<Fetched> {
  const known = Number(await session.offline(['rev-list', '--count', BASE]))
  return fetchWith(session, [`--depth=${known + by}`], ref)
}

/** The commit that the branch points to now; undefined if the branch does not exist. */
export async function readRemoteTip(session: Session, branch: string): Promise<string | undefined> {
  const ref = `refs/heads/${branch}`
  const { ended, meaning } = await session.online(['ls-remote', '-q', '--', session.url, ref])
  if (meaning instanceof Failure) throw meaning
  return commitOf(ended.stdout, ref)
}

// ls-remote lists every ref whose name ends so, such as refs/pull/refs/heads/main.
function commitOf(listing: string, ref: string): string | undefined {
  const end = `\t${ref}\n`
  for (let at = listing.indexOf(end); at >= 0; at = listing.indexOf(end, at + 1)) {
    const commit = listing.slice(listing.lastIndexOf('\n', at) + 1, at)
    if (/^[0-9a-f]{40}$/.test(commit)) return commit
  }
  return undefined
}

async function fetchRef(session: Session, ref: string, since?: Date): Promise<string> {
  const depth = since === undefined ? '--depth=1' : `--shallow-since=${since.toISOString().slice(0, 19)}Z`
  const fetched = await fetchWith(session, [depth], ref)
  // No commit is that new: fetches the latest commits instead, because the clocks of the writers may differ. An answer that broke off
  // looks the same, and those since the date are fetched then.
  const done =
    fetched === 'nothing newer' || fetched === 'depth alone'
      ? await fetchDepths(session, ref, since)
      : fetched
  if (done === 'absent' || done === 'race') return done
  // No date was asked for any more: the answer ended before the pack, or refused what it had offered.
  if (done !== undefined) throw failureOf(BROKEN_OFF, session.context)
  if (await isOtherFetched(session.workspace, ref)) return 'absent'
  const tip = await session.workspace.readRef('base')
  if (tip !== undefined) return tip
  throw new Failure(
    'Internal',
    `Git fetched nothing from ${session.context.url} and gave no reason; Commitlet retries automatically.`,
  )
}

/** Fetches the latest commits: more and more of them, until those since the date are here. */
async function fetchDepths(session: Session, ref: string, since?: Date): Promise<Fetched> {
  for (const depth of GENERATIONS) {
    const fetched = await fetchWith(session, [`--depth=${depth}`], ref)
    if (fetched !== undefined || since === undefined || !(await isCutSince(session, since))) return fetched
  }
  return undefined
}

type Fetched = Extract<Meaning, string> | undefined

async function fetchWith(session: Session, depth: readonly string[], ref: string): Promise<Fetched> {
  const { workspace, url } = session
  const traced = ref === 'HEAD'
  async function fetch(options: readonly string[]): Promise<OnlineResult['meaning']> {
    const args = [...options, ...depth, '--', url, `+${ref}:${BASE}`]
    const { meaning } = await session.online(args, { fetches: true, traced })
    // With the promisor that fetch has written to the configuration, a push would load blobs and trees it does not need.
    await workspace.cleanConfig()
    await keepKnownEdge(session)
    return meaning
  }
  const first = await fetch(FETCH)
  const meaning = first === 'no filter' ? await fetch(FETCH.filter((option) => option !== FILTER)) : first
  if (meaning instanceof Failure) throw meaning
  return meaning
}

// ls-remote would cost two more requests.
async function nameDefaultBranch(session: Session): Promise<string> {
  const { url, secrets } = session.context
  const name = readDefaultBranch(await session.workspace.readTrace(), secrets)
  if (name !== undefined) return name
  throw unnamedHead(url)
}

// To git, a login page with status 200 looks like a repository without refs.
async function mustBeEmpty(session: Session): Promise<void> {
  const { url } = session.context
  const { ended, meaning } = await session.online(['ls-remote', '-q', '--heads', '--', session.url], {
    traced: true,
  })
  if (meaning instanceof Failure) throw meaning
  const lines = await session.workspace.readTrace()
  if (!lines.some((line) => /< version [12]$|capabilities\^\{\}/.test(line)))
    throw new Failure('RepositoryNotFound', `${url} ${NOT_GIT}`)
  if (ended.stdout !== '') throw danglingHead(url)
}
