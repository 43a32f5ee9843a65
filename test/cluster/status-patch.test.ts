import t from 'tap'
import { statusPatch } from '../../functions/cluster/status-patch.ts'
import type { Envelope } from '../../functions/domain/resource/resource.ts'
import type { Status } from '../../functions/domain/resource/stored-status.ts'

const AFTER = { observedGeneration: 2, phase: 'Succeeded' } as const

function resource(status: object): Envelope {
  const metadata = { name: 'a', namespace: 'b', uid: 'c', generation: 2, resourceVersion: '1' }
  return { kind: 'GitCommit', metadata, status: status as Status }
}

function condition(type: string): NonNullable<Status['conditions']>[number] {
  const lastTransitionTime = '2030-01-01T00:00:00Z'
  const rest = { status: 'False', reason: 'X', message: 'Y.', observedGeneration: 1, lastTransitionTime }
  return { type, ...rest } as NonNullable<Status['conditions']>[number]
}

t.test('a known field that is gone is removed, an unknown one is left out of the patch', async (t) => {
  const before = { phase: 'Retrying', nextAttemptTime: '2030-01-01T00:00:00Z', digest: 'of a newer release' }
  t.strictSame(statusPatch(resource(before), AFTER), { ...AFTER, nextAttemptTime: null })
})

t.test('a known field is replaced with all that is in it, unknown or not', async (t) => {
  const commit = { sha: 'a'.repeat(40), shortSHA: 'a'.repeat(12), branch: 'main', path: 'x' }
  const before = { commit: { ...commit, sha: 'b'.repeat(40), signedBy: 'the key of the other commit' } }
  t.strictSame(statusPatch(resource(before), { ...AFTER, commit }), {
    ...AFTER,
    commit: { ...commit, signedBy: null },
  })
})

t.test('conditions of unknown types stay, once, and known ones are replaced', async (t) => {
  const [ready, stalled, signed] = [condition('Ready'), condition('Stalled'), condition('Signed')]
  const before = resource({ conditions: [ready, stalled, signed] })
  for (const conditions of [[ready], [ready, signed]])
    t.strictSame(statusPatch(before, { ...AFTER, conditions }), { ...AFTER, conditions: [ready, signed] })
  t.strictSame(statusPatch(before, AFTER), { ...AFTER, conditions: [signed] })
  t.strictSame(statusPatch(resource({ conditions: [ready] }), AFTER), { ...AFTER, conditions: null })
})

t.test('a resource without a status gets the whole one', async (t) => {
  const { kind, metadata } = resource({})
  t.strictSame(statusPatch({ kind, metadata }, AFTER), AFTER)
})
