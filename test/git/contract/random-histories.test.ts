import { createHash } from 'node:crypto'
import t from 'tap'
import type { Change, FileChange } from '../../../functions/domain/commit/change.ts'
import { Failure } from '../../../functions/domain/failure.ts'
import type { Fault } from '../../harness/git-faults.ts'
import type { Files, GitRepository } from '../../harness/git-repository.ts'
import { SEED, sized } from '../../harness/sample.ts'
import { land } from '../../../functions/git/writer/land.ts'
import { changeOf, endingsOf, ENGINES, openStage, patience, pending, type EngineName } from '../stage.ts'

// The same random history for both engines: the same outcomes, and the same trees.
const stage = await openStage()
t.teardown(() => stage.close())
const { server } = stage

const seed = process.env[SEED] ?? 'none'
const HISTORIES = sized(1, 500)
const STEPS = 3

/** Numbers below `below` that depend on the seed and the history alone. */
function chanceOf(name: string): (below: number) => number {
  let count = 0
  return (below) => createHash('sha256').update(`${name} ${++count}`).digest().readUInt32BE() % below
}

const NAMES = ['a', 'a.b', 'a-b', 'a0', 'ü', 'z z', '.github', 'B']
const CONTENTS = ['', 'one\n', 'two\n', 'x'.repeat(3_000)]
const MODES = ['100644', '100644', '100755', '120000', '160000']
const FAULTS: readonly (Fault | undefined)[] = [
  undefined,
  undefined,
  { kind: 'lost' },
  { kind: 'cut' },
  { kind: 'status', status: 503 },
  { kind: 'status', status: 403 },
]

type Chance = (below: number) => number

function oneOf<T>(chance: Chance, all: readonly T[]): T {
  const [chosen] = all.slice(chance(all.length)) as [T]
  return chosen
}

function pathBy(chance: Chance): string {
  return Array.from({ length: 1 + chance(3) }, () => oneOf(chance, NAMES)).join('/')
}

/** Files of which none is in the way of another. */
function filesBy(chance: Chance, most: number): Files {
  const files = new Map<string, Files[string]>()
  for (let left = 1 + chance(most); left > 0; left -= 1) {
    const path = pathBy(chance)
    const isFree = [...files.keys()].every(
      (one) => !`${one}/`.startsWith(`${path}/`) && !`${path}/`.startsWith(`${one}/`),
    )
    const mode = oneOf(chance, MODES)
    const content = mode === '160000' ? '1'.repeat(40) : mode === '120000' ? 'a' : oneOf(chance, CONTENTS)
    if (isFree) files.set(path, { mode, content })
  }
  return Object.fromEntries(files)
}

function changeBy(chance: Chance, url: string, name: string): Change {
  const plain = Object.keys(filesBy(chance, 3))
  const files = plain.map((path) => fileBy(chance, path))
  const branch = oneOf(chance, ['main', 'main', 'main', 'side', 'new/branch'])
  return changeOf(url, name, { files, branch })
}

function fileBy(chance: Chance, path: string): FileChange {
  const content = Buffer.from(oneOf(chance, CONTENTS))
  const edit = (before: Uint8Array): Uint8Array => Buffer.concat([before, content])
  return oneOf<FileChange>(chance, [{ path, content }, { path, content }, { path, edit }, { path }])
}

/** What a user sees of a result. */
function shownOf(ending: unknown): string {
  if (ending instanceof Failure) return `${ending.reason}: ${ending.message.replaceAll(/https:\S+/g, 'URL')}`
  return ending === undefined ? 'left out' : (ending as { outcome: string }).outcome
}

async function runHistory(engine: EngineName, number: number): Promise<readonly string[]> {
  const chance = chanceOf(`${seed} ${number}`)
  const name = `random/${engine.length}-${number}`
  const repository = await server.createRepository(name, { files: filesBy(chance, 12), branches: ['side'] })
  const told: string[] = []
  for (let step = 0; step < STEPS; step += 1)
    told.push(...(await runStep(engine, repository, { chance, step })))
  const refs = await repository.git('for-each-ref', '--format=%(refname) %(tree)', 'refs/heads')
  const logs = refs
    .split('\n')
    .map((line) => repository.git('log', '--format=%T %s', line.split(' ')[0] ?? ''))
  t.equal(await repository.git('fsck', '--strict', '--no-dangling'), '')
  return [...told, refs, ...(await Promise.all(logs))]
}

async function runStep(
  engine: EngineName,
  repository: GitRepository,
  { chance, step }: { readonly chance: Chance; readonly step: number },
): Promise<readonly string[]> {
  const { url, name } = repository
  const branch = oneOf(chance, ['main', 'side'])
  if (chance(2) === 0) await repository.commit(branch, filesBy(chance, 2), `Other ${step}`)
  const changes = Array.from({ length: 1 + chance(4) }, (_, i) => changeBy(chance, url, `${step}-${i}`))
  const told: string[] = []
  for (const [to, group] of Map.groupBy(changes, (change) => change.branch)) {
    const fault = oneOf(chance, FAULTS)
    const heal =
      fault === undefined
        ? undefined
        : server.faults.add(fault, { repository: name, exchange: 'receive-pack', times: 1 })
    const batch = group.map((change) => pending(change))
    const endings = await stage.remote(engine, url, (remote) =>
      endingsOf(batch, land(remote, { batch, signal: patience() })),
    )
    heal?.()
    told.push(...endings.map((ending) => `${step} ${to} ${fault?.kind}: ${shownOf(ending)}`))
  }
  return told
}

t.test(`${HISTORIES} histories, seed ${seed}`, async (t) => {
  for (let number = 0; number < HISTORIES; number += 1) {
    const [one, other] = await Promise.all(ENGINES.map((engine) => runHistory(engine, number)))
    t.same(other, one, `history ${number}`)
  }
})
