import { spawnSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import t, { type Test } from 'tap'
import { sample } from './harness/sample.ts'
import { drawnOf, entriesOf, unitsOf, writeEntries } from './rooms.ts'

const ROOT = join(import.meta.dirname, '..')
const GREEN = "import t from 'tap'\n\nt.test('it holds', async (t) => t.ok(true))\n"

/** Runs these files as one room, and returns its TAP and its exit code. */
function runRoomOf(
  t: Test,
  files: Readonly<Record<string, string>>,
): { stdout: string; status: number | null } {
  const names = Object.fromEntries(Object.entries(files).map(([name, text]) => [`${name}.test.ts`, text]))
  const folder = t.testdir(names)
  const paths = Object.keys(names).map((name) => relative(ROOT, join(folder, name)))
  const entry = join(folder, 'entry.ts')
  const room = JSON.stringify(join(import.meta.dirname, 'room.ts'))
  t.testdir({ ...names, 'entry.ts': `import { runRoom } from ${room}\nrunRoom(${JSON.stringify(paths)})\n` })
  const env = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(TAP|_TAPJS|NODE_(?!COMPILE_CACHE))/.test(name)),
  )
  const { stdout, status } = spawnSync(process.execPath, [entry], { encoding: 'utf8', env, cwd: ROOT })
  return { stdout, status }
}

t.test('each file of a room is a subtest of its own', (t) => {
  const { stdout, status } = runRoomOf(t, { one: GREEN, two: GREEN })
  t.equal(status, 0)
  t.match(stdout, /^ok 1 - .*one\.test\.ts .*^ok 2 - .*two\.test\.ts /ms)
  t.match(stdout, /pass: 2 /)
  t.end()
})

t.test('a room fails with any of its files', (t) => {
  const rows: [string, string][] = [
    ['that does not load', "throw new Error('broken')\n"],
    ['that does not parse', 'import {\n'],
    ['of which an assertion fails', "import t from 'tap'\nt.equal(1, 2)\n"],
    [
      'of which a test throws',
      "import t from 'tap'\nt.test('x', () => Promise.reject(new Error('broken')))\n",
    ],
    [
      'that throws later',
      "import t from 'tap'\nt.test('x', () => new Promise(() => setTimeout(() => { throw 1 })))\n",
    ],
    [
      'of which a teardown throws',
      "import t from 'tap'\nt.teardown(() => { throw new Error('broken') })\nt.pass()\n",
    ],
  ]
  for (const [what, text] of sample(rows, () => 'a file that fails')) {
    const { stdout, status } = runRoomOf(t, { one: GREEN, two: text, three: GREEN })
    t.not(status, 0, what)
    t.match(stdout, /^not ok 2 - .*two\.test\.ts /m, what)
    t.match(stdout, /^ok \d - .*three\.test\.ts /m, `${what}: the others run`)
  }
  t.end()
})

// A short title: the path of the test's folder contains all the titles above it.
t.test('teardowns and folders are of one file', (t) => {
  const used = "import t from 'tap'\nconst place = globalThis as { mark?: string }\nt.not(place.mark, 'on')\n"
  const marks = "place.mark = 'on'\nt.teardown(() => delete place.mark)\nt.testdir({ kept: 'x' })\n"
  const { stdout, status } = runRoomOf(t, { one: used + marks, two: used + marks })
  t.equal(status, 0, stdout)
  t.end()
})

t.test('every test file runs in one entry, those that need a control plane alone', async (t) => {
  const files = globSync('test/**/*.test.ts', { cwd: ROOT }).sort()
  const entries = await entriesOf(files)
  t.strictSame(entries.flatMap(({ runs }) => runs).sort(), files)
  const together = entries.filter(({ runs }) => runs.length > 1).flatMap(({ runs }) => runs)
  t.ok(together.length > files.length / 2, 'most files share a process')
  const planes = together.filter((file) =>
    /^ *(await )?withControlPlane\([^]*^ +\{ own: /m.test(readFileSync(join(ROOT, file), 'utf8')),
  )
  t.strictSame(planes, [])
  t.ok(entries.length < 64, `${entries.length} processes`)
  const unit = await entriesOf(files, { unit: true })
  t.ok(unit.length < entries.length, 'without control planes there are fewer')
  await writeEntries(entries)
  const [room] = entries.filter(({ file }) => file.endsWith('/1-test-domain.test.ts'))
  t.match(readFileSync(join(ROOT, room?.file ?? ''), 'utf8'), 'test/domain/gate/gate.test.ts')
})

t.test('of files that try much the same, each seed leaves one, and every file has its seed', async (t) => {
  const files = globSync('test/**/*.test.ts', { cwd: ROOT }).sort()
  const runs = Array.from({ length: 40 }, (_, seed) => drawnOf(files, String(seed)))
  for (const run of runs) t.equal(run.length, files.length - 17)
  t.strictSame(runs[0], drawnOf(files, '0'))
  t.strictSame([...new Set(runs.flat())].sort(), files)
  t.strictSame(drawnOf(['test/floods.test.ts'], '1'), ['test/floods.test.ts'])
})

t.test('a unit run has all tests of the floors, but no whole sessions of git', (t) => {
  const files = globSync('test/**/*.test.ts', { cwd: ROOT }).sort()
  const units = new Set(unitsOf(files))
  const floors = /^test\/(arrival|attempt|cluster|commit|domain|edits|git|http|login|looks|net|webhook)\//
  const left = files.filter((file) => floors.test(file) && !units.has(file))
  t.strictSame(
    left.filter((file) => !/^test\/git\/(contract|session)\//.test(file)),
    ['test/git/direct/inflated-trees.test.ts', 'test/git/direct/large-trees.test.ts', 'test/git/git.test.ts'],
  )
  t.ok(units.has('test/app.test.ts'))
  t.notOk(units.has('test/main.test.ts'))
  t.strictSame(
    [...units].filter((file) => file.startsWith('test/e2e/')),
    [],
  )
  t.end()
})
