import { conditionsOf } from './conditions.ts'
import type { Stored } from './installation.ts'

/** What tools that wait for resources (Flux, Argo CD, `kpt live`, Helm) show. */
export type ReadStatus = 'Terminating' | 'InProgress' | 'Failed' | 'Current'

/**
 * Reads a custom resource as kstatus does: deletion, observed generation, Reconciling or Stalled (the first
 * that is True), then Ready: https://github.com/kubernetes-sigs/cli-utils/tree/master/pkg/kstatus
 */
export function kstatus({ metadata, status }: Stored): ReadStatus {
  if (metadata['deletionTimestamp'] !== undefined) return 'Terminating'
  const observed = status['observedGeneration']
  if (observed !== undefined && observed !== metadata.generation) return 'InProgress'
  const conditions = conditionsOf({ status })
  const first = conditions.find(
    ({ type, status }) => /^(?:Reconciling|Stalled)$/.test(type) && status === 'True',
  )
  if (first !== undefined) return first.type === 'Stalled' ? 'Failed' : 'InProgress'
  const ready = conditions.find(({ type }) => type === 'Ready')
  return ready === undefined || ready.status === 'True' ? 'Current' : 'InProgress'
}
