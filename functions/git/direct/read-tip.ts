import { Failure } from '../../domain/failure.ts'
import { danglingHead, FIRST_BRANCH, isUsableBranch, unnamedHead } from '../branch.ts'
import { treeOfCommit } from '../objects/commit-object.ts'
import type { ObjectId } from '../objects/object.ts'
import type { Tip, WantedTip } from '../remote.ts'
import type { FetchRequest } from '../protocol/fetch.ts'
import {
  fetchObjects,
  listRefs,
  understood,
  type DirectSession,
  type FetchedObjects,
  type NoObjects,
} from './session.ts'
import { FEW, fetchWithTrees } from './tree-fetches.ts'

const HEADS = 'refs/heads/'

/**
 * Reads where the branch is, and fetches its commit and trees unless they are here. Where the branch is remembered
 * and nobody wants to know anything else of it, the remote is not asked. `moved`: the remote changed while it was read.
 * @throws Failure for an error of the remote; an Error that is no Failure where the git binary has to do it
 */
export async function readTip(session: DirectSession, wanted: WantedTip): Promise<Tip | 'moved'> {
  const { branch, since, fresh = false } = wanted
  if (branch !== undefined && since === undefined && !fresh) {
    const commit = session.tips.latest(branch)
    if (commit !== undefined && isHere(session, commit))
      return { branch, commit, exists: true, remembered: true }
  }
  const tip = await findTip(session, branch)
  if (tip === 'moved') return tip
  const moved =
    tip.commit !== undefined && !isHere(session, tip.commit)
      ? await fetchCommit(session, tip.commit, session.tips.get(tip.branch))
      : undefined
  if (moved !== undefined) return moved
  if (tip.exists && tip.commit !== undefined) session.tips.set(tip.branch, tip.commit)
  return tip
}

/** The commit that the branch points to now; undefined if the branch does not exist. */
export async function readRemoteTip(session: DirectSession, branch: string): Promise<ObjectId | undefined> {
  const head = await readDefault(session, branch)
  return head ?? (await listRefs(session, [HEADS + branch])).named.get(HEADS + branch)?.id
}

/**
 * Where the branch is, if HEAD points to it as it did before: a server that is asked for a branch lists all whose names begin as its
 * own does, and whoever may push can make thousands of these.
 */
async function readDefault(session: DirectSession, branch: string): Promise<ObjectId | undefined> {
  if (session.tips.getHead() !== HEADS + branch) return undefined
  const head = (await listRefs(session, ['HEAD'])).named.get('HEAD')
  return head?.target === HEADS + branch ? head.id : undefined
}

/**
 * Fetches a commit without history, with all its trees unless these are too many; of the trees of `known`, a commit that is
 * here, only those come that differ.
 */
export async function fetchCommit(
  session: DirectSession,
  commit: ObjectId,
  known?: ObjectId,
): Promise<'moved' | undefined> {
  const want = { wants: [commit], depth: 1 }
  const isBeside = known !== undefined && session.way.get() !== 'needed' && isHere(session, known)
  const beside = isBeside ? await fetchBeside(session, want, known) : undefined
  const fetched = beside ?? (await fetchWithTrees(session, want))
  if (fetched === 'moved') return 'moved'
  if (!isHere(session, commit)) throw new Error('a fetch does not bring the commit')
  return undefined
}

/** Undefined: some of the trees of the known commit may have been forgotten. */
async function fetchBeside(
  session: DirectSession,
  want: FetchRequest,
  known: ObjectId,
): Promise<FetchedObjects | NoObjects | undefined> {
  return fetchObjects(session, { ...want, filter: 'blob:none', haves: [known] }, FEW).catch(
    (error: unknown) => {
      if (error instanceof Failure) throw error
      return undefined
    },
  )
}

async function findTip(session: DirectSession, branch: string | undefined): Promise<Tip | 'moved'> {
  const commit = branch === undefined ? undefined : await readDefault(session, branch)
  if (branch !== undefined && commit !== undefined) return { branch, commit, exists: true }
  const { named } = await listRefs(session, ['HEAD', ...(branch === undefined ? [] : [HEADS + branch])])
  session.tips.setHead(named.get('HEAD')?.target ?? '')
  const known = branch === undefined ? undefined : named.get(HEADS + branch)
  if (branch !== undefined && known !== undefined) return { branch, commit: known.id, exists: true }
  const head = named.get('HEAD')
  if (head !== undefined && branch !== undefined) return { branch, commit: head.id, exists: false }
  if (head === undefined) return beginning(session, branch)
  return { branch: nameOf(session, head.target), commit: head.id, exists: true }
}

/**
 * Where an empty repository begins: with the branch that is named, or else with that of its HEAD, as far as the server tells it.
 * Where there are others, only the branch of its HEAD begins, and only where it is named.
 */
async function beginning(session: DirectSession, branch: string | undefined): Promise<Tip | 'moved'> {
  const tells = await session.channel.tellsUnborn()
  const { named, any, unborn } = await listRefs(session, ['HEAD', HEADS], tells)
  if (named.has('HEAD')) return 'moved'
  if (any && (branch === undefined || unborn !== HEADS + branch)) throw danglingHead(session.context.url)
  const first = branch ?? (unborn === undefined ? FIRST_BRANCH : nameOf(session, unborn))
  return { branch: first, commit: undefined, exists: false }
}

/** Short name of the branch to which HEAD points. @throws Failure NotSupported where it cannot be used */
function nameOf({ context }: DirectSession, target = ''): string {
  const name = target.startsWith(HEADS) ? target.slice(HEADS.length) : ''
  if (!isUsableBranch(name, context.secrets)) throw unnamedHead(context.url)
  return name
}

/** Whether the commit is known, and its tree unless each is fetched when it is needed; those below are read then. */
function isHere({ objects, way }: DirectSession, commit: ObjectId): boolean {
  const known = objects.get(commit)
  if (known?.kind !== 'commit') return false
  return way.get() === 'needed' || objects.get(understood(known.body, treeOfCommit)) !== undefined
}
