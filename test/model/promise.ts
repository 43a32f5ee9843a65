import { wantedVersion } from './cluster-store.ts'
import { isQuiet, isSettled } from './actions.ts'
import type { State } from './system.ts'

/** What is promised, and does not hold in this state; undefined if all holds. `before`: the state from which it came. */
export function brokenPromise(before: State, state: State): string | undefined {
  if (state.branch !== before.branch) return brokenBy(state) ?? brokenAfter(before, state)
  if (state.store !== before.store) return brokenStatus(before, state)
  return undefined
}

/** What has to hold where nothing more happens: the last content was committed, and the status says so. */
export function brokenEnd(state: State): string | undefined {
  if (!isQuiet(state) || !isSettled(state)) return 'nothing more happens, and the resource is not settled'
  const { phase } = state.store.status
  if (phase !== 'Succeeded') return `the phase is ${String(phase)} at the end`
  const wanted = wantedVersion(state.store)
  if (!state.branch.some(({ version }) => version === wanted)) return 'the last content was never committed'
  return undefined
}

function brokenBy({ branch, store }: State): string | undefined {
  const ours = branch.filter(({ id }) => id !== '')
  const ids = ours.map(({ id }) => id)
  const twice = ids.find((id, i) => ids.indexOf(id) !== i)
  if (twice !== undefined) return `two commits for ${twice}`
  const versions = ours.map(({ version }) => version)
  // What is wanted at the end may have been there before.
  const back = store.isBack === true ? wantedVersion(store) : undefined
  const again = versions.find((version, i) => version !== back && versions.indexOf(version) !== i)
  // A request is for an object that an attempt before it may have read.
  if (store.requests === 0 && again !== undefined) return `two commits for version ${again}`
  const old = versions.findIndex((version, i) => version !== back && version < (versions[i - 1] ?? 0))
  return old < 0 ? undefined : `old content after new: version ${versions[old]} after ${versions[old - 1]}`
}

/** What the status says is there is not overwritten by what was wanted before. */
function brokenAfter(before: State, { branch, store }: State): string | undefined {
  const last = branch.at(-1)
  if (last === undefined || last.id === '' || !isSettled(before)) return undefined
  return last.version !== wantedVersion(store)
    ? `old content after new: version ${last.version} at the end`
    : undefined
}

function brokenStatus(before: State, { store }: State): string | undefined {
  const [old, now] = [before.store.status, store.status].map(({ observedGeneration }) =>
    Number(observedGeneration),
  )
  if (now !== undefined && old !== undefined && now < old)
    return 'the status of an older generation after that of a newer one'
  const { suspended, status } = before.store
  const claims = [status, store.status].map(({ phase, startedAt, attempts }) =>
    phase === 'Progressing' ? `${String(startedAt)} ${String(attempts)}` : '',
  )
  const isStarted = claims[1] !== '' && claims[0] !== claims[1]
  return suspended && isStarted ? 'an attempt starts while the resource is suspended' : undefined
}
