import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { drawn } from './harness/sample.ts'

const ROOT = join(import.meta.dirname, '..')

/** The folder of the entries: below that of tap, which Git ignores. */
const ENTRIES = '.tap/rooms'

/** Files that start their own control plane and process groups need their own process. */
const WITH_CONTROL_PLANE = /from '[^']*\/(control-plane(-[a-z]+)?|installation)\.ts'/
/** A control plane of their own, and its process groups, want a process of their own. */
const OWN = /\bown: (true|isLong\(\))/
/** They share one installation, so that they share a process. */
const WITH_SHARED_INSTALLATION = /\bwithCommitlet\(/
const SHARED_INSTALLATION = 'test/e2e/shared'

/** These start whole programs and wait for them: other files should not wait, too. */
const ALONE: ReadonlySet<string> = new Set([
  'test/build.test.ts',
  'test/floods.test.ts',
  'test/main.test.ts',
  'test/demo/demo.test.ts',
  'test/e2e/demo-cluster.test.ts',
])

/** What takes so long that it has a process of its own; every other folder shares that of its floor. */
const LONG_FOLDERS: ReadonlySet<string> = new Set([
  'test/git/contract',
  'test/git/session',
  'test/git/ssh',
  'test/git/ssh-worker',
])
/** Their process grows to several times the size of the others of their floor, from which no git should be forked. */
const LARGE_FOLDERS: ReadonlySet<string> = new Set(['test/git/direct', 'test/git/objects'])
const LARGE = 'test/git/large'
const FLOOR = /^test(\/[^/]+)?/
/** Floors whose tests take less than their processes would: they share one. */
const SMALL_FLOORS: ReadonlySet<string> = new Set([
  'test/arrival',
  'test/attempt',
  'test/commit',
  'test/forge',
  'test/lab',
  'test/login',
  'test/net',
  'test/pull-request',
  'test/telemetry',
])
const SMALL = 'test/small-floors'

/** tap finds the snapshots of a file by the name of the process. */
const WITH_SNAPSHOTS = 'test/e2e/print.test.ts'

/** Folders with more files than one process gets, and how many it gets: they take long, and others use the cores. */
const LARGEST_PARTS: ReadonlyMap<string, number> = new Map([
  ['test/e2e', 4],
  [SHARED_INSTALLATION, 5],
  ['test/git/contract', 4],
])

/** The entry that takes longest: where it began late, the run would wait for it alone. */
const FIRST = SMALL
/** The slow entries, and those that wait most: they begin before the short ones for the same reason. */
const LONG =
  /^test\/(small-floors|git|domain|providers|webhook|build|main|demo|harness|http|cluster|e2e\/(followers|outages|demo-cluster|flood|lost-events))\b/

/**
 * Of each list one file runs, by the seed, and where lines are counted and in a long run all: they start programs or a
 * control plane of their own for what other tests try in parts (kinds, unknown fields, rights; bounds; what is stopped;
 * what is down, and what is lost; where an attempt is when its process stops; where a secret could be; how a Git server
 * fails; all ways to log in; pull requests of all hosts and credentials).
 */
const ONE_OF: readonly (readonly string[])[] = [
  [
    'test/e2e/attacks-objects.test.ts',
    'test/e2e/newer-crd.test.ts',
    'test/e2e/rights.test.ts',
    'test/docs/commands.test.ts',
  ],
  ['test/e2e/flood.test.ts', 'test/floods.test.ts'],
  ['test/e2e/demo-cluster.test.ts', 'test/demo/demo.test.ts', 'test/demo/stopping.test.ts'],
  ['test/faults/faults.test.ts', 'test/e2e/outages.test.ts', 'test/e2e/lost-events.test.ts'],
  ['test/e2e/paused.test.ts', 'test/e2e/crash-steps.test.ts', 'test/e2e/crashes.test.ts'],
  [
    'test/e2e/redaction.test.ts',
    'test/e2e/redaction-ways.test.ts',
    'test/e2e/pull-requests-redaction.test.ts',
  ],
  ['test/e2e/failures.test.ts', 'test/e2e/hostile-server.test.ts', 'test/e2e/remotes.test.ts'],
  ['test/e2e/authentication.test.ts', 'test/e2e/matrix.test.ts'],
  [
    'test/e2e/pull-requests-examples.test.ts',
    'test/e2e/pull-requests-credentials.test.ts',
    'test/e2e/pull-requests-hosts.test.ts',
  ],
]

/**
 * Left out by --unit: what starts whole programs, or a Git server for each case, what tests the tests themselves, the
 * command line, the manifests, the benches and the pages, and what takes seconds alone. A unit run is for while one writes,
 * and `npm test` has them all.
 */
const NOT_UNITS =
  /^test\/(e2e|bench|cli|demo|docs|faults|forge|fuzz|harness|lab|manifests|model|parsers|release|git\/(contract|session))\/|^test\/(build|bundles|ci-summary|coverage-gate|floods|git\/git|git\/direct\/(inflated|large)-trees|main|rooms|run|tap-domain|times)\.test\.ts$/

/** The files that a unit run has. */
export function unitsOf(files: readonly string[]): readonly string[] {
  return files.filter((file) => !NOT_UNITS.test(file))
}

/** The files of this run, of which some are drawn by the seed. */
export function drawnOf(files: readonly string[], seed: string): readonly string[] {
  const left = ONE_OF.flatMap((alike) => {
    const there = alike.filter((file) => files.includes(file))
    const one = drawn(seed, alike.join(), there)
    return there.filter((file) => file !== one)
  })
  return files.filter((file) => !left.includes(file))
}

/** An entry that tap runs as one process, and its test files. */
export interface Entry {
  readonly file: string
  readonly runs: readonly string[]
}

/**
 * Puts the test files (paths below the project's folder, with `/`) of each folder into one entry, for a process costs
 * more than most files do. A file that has to run alone, or is the only one, is its own entry.
 */
export async function entriesOf(
  files: readonly string[],
  { unit = false }: { readonly unit?: boolean } = {},
): Promise<readonly Entry[]> {
  const rooms = new Map<string, string>()
  for (const file of files) rooms.set(file, await roomOf(file, unit))
  return [...Map.groupBy(files, (file) => rooms.get(file) ?? file)].flatMap(partsOf).map(([room, runs]) => {
    const [only = room] = runs
    const rank = rankOf(room)
    return runs.length === 1 && rank === 2 ? { file: only, runs } : { file: entryName(room, rank), runs }
  })
}

/** Writes the entries that are not test files themselves. */
export async function writeEntries(entries: readonly Entry[]): Promise<void> {
  await mkdir(join(ROOT, ENTRIES), { recursive: true })
  for (const { file, runs } of entries.filter(({ file }) => file.startsWith(ENTRIES))) {
    const list = runs.map((file) => `  ${JSON.stringify(file)},\n`).join('')
    await writeFile(
      join(ROOT, file),
      `import { runRoom } from '../../test/room.ts'\n\nrunRoom([\n${list}])\n`,
    )
  }
}

function rankOf(room: string): 0 | 1 | 2 {
  if (room === FIRST) return 0
  return LONG.test(room) && room !== WITH_SNAPSHOTS ? 1 : 2
}

// tap runs its files in the order of their names.
function entryName(room: string, rank: number): string {
  const name = room.replace(/\.test\.ts$/, '').replaceAll('/', '-')
  return `${ENTRIES}/${rank}-${name}.test.ts`
}

function partsOf([room, runs]: readonly [string, readonly string[]]): [string, readonly string[]][] {
  const largest = LARGEST_PARTS.get(room)
  if (largest === undefined) return [[room, runs]]
  const parts = Map.groupBy(runs, (file) => Math.floor(runs.indexOf(file) / largest))
  return [...parts].map(([number, some]) => [`${room}-${number}`, some])
}

async function roomOf(file: string, unit: boolean): Promise<string> {
  const folder = dirname(file)
  const text = unit ? '' : await readFile(join(ROOT, file), 'utf8')
  const hasOwnPlane = WITH_CONTROL_PLANE.test(text) && OWN.test(text)
  if (ALONE.has(file) || file === WITH_SNAPSHOTS || hasOwnPlane) return file
  if (WITH_SHARED_INSTALLATION.test(text)) return SHARED_INSTALLATION
  if (LONG_FOLDERS.has(folder)) return folder
  if (LARGE_FOLDERS.has(folder)) return LARGE
  const floor = FLOOR.exec(folder)?.[0] ?? folder
  return SMALL_FLOORS.has(floor) ? SMALL : floor
}
