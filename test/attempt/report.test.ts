import t from 'tap'
import { Failure } from '../../functions/domain/failure.ts'
import type { Outcome } from '../../functions/domain/resource/status.ts'
import { report } from '../../functions/attempt/report.ts'
import { readable } from '../domain/fixtures/parsed.ts'
import { resource } from '../domain/fixtures/envelope.ts'
import { memoryWorld } from '../harness/memory-world.ts'
import { recordingMeter } from '../harness/recording-meter.ts'

const CLAIM = resource({ observedGeneration: 1, phase: 'Progressing', attempts: 3 })
const OUTCOME: Outcome = { reason: 'Succeeded', message: 'Done.', credentialsUsed: 'Primary' }

/** A repository that `parse` has read. */
const AT_GITHUB = readable('GitCommit', { repository: 'https://github.com/acme/shop' }).target

/** What is logged, and recorded as Events. */
async function told(result: Outcome | Failure, written = true) {
  const world = { ...memoryWorld(), elapsed: () => 1_250 }
  const settled = written
    ? ({ written: { envelope: CLAIM, status: { observedGeneration: 1, phase: 'Failed' } } } as const)
    : {}
  const { meter, recorded } = recordingMeter()
  const place = { target: AT_GITHUB, engine: 'direct' } as const
  await report({ claim: CLAIM, result, began: 1_000, settled, ...place }, { ...world, meter })
  return { logged: world.logged, notices: world.cluster.notices, recorded }
}

const PLACES: readonly (readonly [string, Partial<Outcome>, Record<string, unknown>])[] = [
  [
    'a commit says where it is',
    { commit: { sha: 'a'.repeat(40), shortSHA: 'a'.repeat(12), branch: 'main', path: 'x' } },
    { sha: 'a'.repeat(40), branch: 'main', number: undefined },
  ],
  [
    'a pull request says its number and what became of it',
    { pullRequest: { number: 7, url: 'https://git.example.com/7', state: 'merged' } },
    { number: 7, state: 'merged', sha: undefined, url: undefined },
  ],
]

for (const [title, place, fields] of PLACES) {
  t.test(title, async (t) => {
    const { logged, notices } = await told({ ...OUTCOME, ...place })
    t.match(logged, [{ ...fields, msg: 'attempt succeeded', attempt: 3, phase: 'Failed', milliseconds: 250 }])
    t.strictSame(notices, [{ type: 'Normal', reason: 'Succeeded', message: 'Done.' }])
  })
}

t.test('details that could not be added are reported as well; without details nothing is', async (t) => {
  const words = { applied: 'False', message: 'The host does not know stranger.' } as const
  const { logged, notices } = await told({ ...OUTCOME, details: { ...words, reason: 'NotApplied' } })
  t.match(logged, [{ msg: 'attempt succeeded', reason: 'Succeeded', details: 'NotApplied' }])
  t.strictSame(notices, [
    { type: 'Warning', reason: 'DetailsNotApplied', message: 'Done. (The host does not know stranger.)' },
  ])
  for (const details of [
    'as before',
    undefined,
    { ...words, reason: 'NotOurs' },
    { ...words, applied: 'True', reason: 'Applied' },
  ] as const) {
    const quiet = await told({ ...OUTCOME, details })
    t.match(quiet.logged, [{ details: undefined }])
    t.match(quiet.notices, [{ type: 'Normal', reason: 'Succeeded', message: 'Done.' }])
  }
})

t.test('a failure is reported with its own message, a bug with its place in the code', async (t) => {
  const { logged, notices } = await told(new Failure('HeadNotFound', 'No branch.'))
  t.match(logged, [{ msg: 'attempt failed', reason: 'HeadNotFound', message: 'No branch.' }])
  t.strictSame(notices, [{ type: 'Warning', reason: 'HeadNotFound', message: 'No branch.' }])
  const bug = new Failure('Internal', 'Ours.', { cause: new TypeError('with a secret') })
  t.match((await told(bug)).logged, [{ msg: 'attempt failed' }, { msg: 'internal error', origin: {} }])
})

t.test('an attempt that was overtaken makes no Event', async (t) => {
  const { logged, notices } = await told(OUTCOME, false)
  t.match(logged, [{ phase: 'overtaken' }])
  t.strictSame(notices, [])
})

t.test('an attempt is counted by its result, and its time measured', async (t) => {
  const { recorded } = await told(new Failure('NetworkError', 'Gone.'))
  t.strictSame(recorded, [
    ['attempts_total', { kind: CLAIM.kind, reason: 'NetworkError', provider: 'github', engine: 'direct' }, 1],
    ['attempt_duration_seconds', { kind: CLAIM.kind, outcome: 'failed' }, 0.25],
  ])
})

t.test('the time from apply to Ready is measured where it is known, once it is Ready', async (t) => {
  const { meter, recorded } = recordingMeter()
  const world = { ...memoryWorld(new Date('2026-03-01T10:00:07Z')), meter }
  const envelope = { ...CLAIM, appliedAt: '2026-03-01T10:00:03Z' }
  const settled = { written: { envelope, status: { observedGeneration: 1, phase: 'Succeeded' } } } as const
  const attempted = {
    claim: CLAIM,
    began: 0,
    settled,
    target: undefined,
    engine: 'api',
  } as const
  await report({ ...attempted, result: new Failure('NetworkError', 'Gone.') }, world)
  t.notOk(recorded.some(([name]) => name === 'ready_duration_seconds'))
  await report({ ...attempted, result: OUTCOME }, world)
  t.strictSame(recorded.at(-1), ['ready_duration_seconds', { kind: CLAIM.kind, provider: 'other' }, 4])
})

/** The Events after results of which each has the status of Ready before and after it. */
async function eventsOf(...results: readonly (readonly ['Unknown' | 'True' | 'False', 'True' | 'False'])[]) {
  const world = memoryWorld()
  const condition = (status: 'Unknown' | 'True' | 'False') =>
    ({
      type: 'Ready',
      status,
      reason: 'Any',
      message: '',
      observedGeneration: 1,
      lastTransitionTime: '',
    }) as const
  for (const [before, after] of results) {
    const claim = resource({ observedGeneration: 1, phase: 'Progressing', conditions: [condition(before)] })
    const status = { observedGeneration: 1, phase: 'Failed', conditions: [condition(after)] } as const
    const result = after === 'True' ? OUTCOME : new Failure('NetworkError', 'Gone.')
    const settled = { written: { envelope: claim, status } }
    const place = { target: undefined, engine: 'none' } as const
    await report({ claim, result, began: 0, settled, ...place }, world)
  }
  return world.cluster.notices.map(({ type }) => type)
}

t.test('there is one Event for each change of Ready, and none for a retry that fails as well', async (t) => {
  t.strictSame(await eventsOf(['Unknown', 'False'], ['False', 'False'], ['False', 'False']), ['Warning'])
  t.strictSame(await eventsOf(['Unknown', 'False'], ['False', 'True']), ['Warning', 'Normal'])
  t.strictSame(await eventsOf(['Unknown', 'True'], ['Unknown', 'True']), ['Normal', 'Normal'])
})
