import t from 'tap'
import type { ListedResource } from '../../../functions/cluster/cluster.ts'
import { isDue } from '../../../webhook/delivery/due.ts'
import { UID } from '../stage.ts'

const NOW = Date.parse('2026-01-01T12:00:00Z')

function listed(changes: Partial<ListedResource>): ListedResource {
  return {
    ref: { kind: 'GitCommit', namespace: 'shop', name: 'settings', uid: UID, generation: 2 },
    deleting: false,
    requestedAt: undefined,
    observedGeneration: 2,
    lastHandledRequestedAt: undefined,
    nextAttemptTime: undefined,
    weight: 1,
    ...changes,
  }
}

for (const [title, changes, unsettled, full] of [
  ['never started', { observedGeneration: -1 }, true, true],
  ['whose time has come', { nextAttemptTime: '2026-01-01T12:00:00Z' }, true, false],
  ['whose time has not come', { nextAttemptTime: '2026-01-01T12:00:01Z' }, false, false],
  ['whose time cannot be read', { nextAttemptTime: 'soon' }, true, false],
  ['being deleted', { observedGeneration: -1, requestedAt: 'a', deleting: true }, false, false],
  ['with a newer spec', { observedGeneration: 1, nextAttemptTime: '2026-01-01T13:00:00Z' }, false, true],
  [
    'requested again',
    { requestedAt: 'b', lastHandledRequestedAt: 'a', nextAttemptTime: '2027-01-01T00:00:00Z' },
    false,
    true,
  ],
  [
    'requested and handled',
    { requestedAt: 'a', lastHandledRequestedAt: 'a', nextAttemptTime: '2027-01-01T00:00:00Z' },
    false,
    false,
  ],
] as const) {
  t.test(`a resource ${title} is due: unsettled ${unsettled}, full ${full}`, async (t) => {
    t.equal(isDue(listed(changes), 'unsettled', NOW), unsettled)
    t.equal(isDue(listed(changes), 'full', NOW), full)
  })
}
