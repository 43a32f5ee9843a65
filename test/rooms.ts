import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const ROOT = join(import.meta.dirname, '..')

/** The folder of the entries: below that of tap, which Git ignores. */
const ENTRIES = '.tap/rooms'

/** Files that start their own control plane and process groups need their own process. */
const WITH_CONTROL_PLANE = /from '[^']*\/(control-plane(-[a-z]+)?|installation)\.ts'/

/** These start whole programs and wait for them: other files should not wait, too. */
const ALONE: ReadonlySet<string> = new Set([
  'test/build.test.ts',
  'test/main.test.ts',
  'test/demo/demo.test.ts',
])

/** Where a folder of a room has fewer files, they are part of the room. */
const SMALLEST_ROOM = 3
const FOLDER_OF_ROOM = /^test\/[^/]+\/./

/** The slowest entries: they begin first, so that the run does not wait for them at the end. */
const LONGEST = /^test\/(git|providers|build|main|demo|harness|http|cluster)\b/

/** An entry that tap runs as one process, and its test files. */
export interface Entry {
  readonly file: string
  readonly runs: readonly string[]
}

/**
 * Puts the test files (paths below the project's folder, with `/`) of each folder into one entry, for a process costs
 * more than most files do. A file that has to run alone, or is the only one, is its own entry.
 */
export async function entriesOf(files: readonly string[]): Promise<readonly Entry[]> {
  const alone = new Set<string>()
  for (const file of files) if (await isAlone(file)) alone.add(file)
  const sizes = Map.groupBy(files, dirname)
  function roomOf(file: string): string {
    const folder = dirname(file)
    if (alone.has(file)) return file
    const isSmall = (sizes.get(folder)?.length ?? 0) < SMALLEST_ROOM
    return isSmall && FOLDER_OF_ROOM.test(folder) ? dirname(folder) : folder
  }
  return [...Map.groupBy(files, roomOf)].map(([room, runs]) => {
    const [only = room] = runs
    const isShort = !LONGEST.test(room)
    return runs.length === 1 && isShort ? { file: only, runs } : { file: entryName(room, isShort), runs }
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

// tap runs its files in the order of their names.
function entryName(room: string, isShort: boolean): string {
  const name = room.replace(/\.test\.ts$/, '').replaceAll('/', '-')
  return `${ENTRIES}/${isShort ? '2' : '1'}-${name}.test.ts`
}

async function isAlone(file: string): Promise<boolean> {
  return ALONE.has(file) || WITH_CONTROL_PLANE.test(await readFile(join(ROOT, file), 'utf8'))
}
