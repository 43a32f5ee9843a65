import { createPace } from '../objects/pace.ts'
import { pathsTo, type Tree, type TreeEntry } from '../tree.ts'
import type { Session } from './session.ts'

const PATHS_PER_CALL = 500
const BYTES_PER_CALL = 64 * 1024

/** Reads the entries of the commit at the paths and at every directory above them, without reading a blob. */
export async function listTree(
  session: Session,
  tip: string | undefined,
  paths: readonly string[],
): Promise<Tree> {
  if (tip === undefined) return new Map()
  const tree = new Map(await list(session, tip, paths))
  // ls-tree shows the directories above a path, but not a file that is in place of one: that needs a second call.
  // One call for both would list whole directories.
  const hidden: string[] = []
  const wanted = new Set<string>()
  const pace = createPace(undefined)
  for (const path of paths) {
    const way = pathsTo(path)
    const gap = way.find((at) => !tree.has(at)) ?? path
    if (gap !== path) hidden.push(gap)
    for (const at of way) wanted.add(at)
    await pace(way.length * path.length)
  }
  const entries = [...tree, ...(await list(session, tip, hidden))]
  return new Map(entries.filter(([path]) => wanted.has(path)))
}

async function list(session: Session, tip: string, paths: readonly string[]): Promise<Listing> {
  const entries: (readonly [string, TreeEntry])[] = []
  for (const group of splitIntoCalls([...new Set(paths)])) {
    const listing = await session.offline(['ls-tree', '-z', '-t', '--full-tree', tip, '--', ...group])
    entries.push(...parseListing(listing))
  }
  return entries
}

type Listing = readonly (readonly [string, TreeEntry])[]

function parseListing(listing: string): Listing {
  return listing
    .split('\0')
    .filter((line) => line !== '')
    .map((line) => {
      const tab = line.indexOf('\t')
      const [mode = '', , oid = ''] = line.slice(0, tab).split(' ')
      return [line.slice(tab + 1), { mode, oid }]
    })
}

// A command line is limited: Linux allows 128 KiB for one argument and 2 MiB for all.
function splitIntoCalls(paths: readonly string[]): readonly (readonly string[])[] {
  const calls: string[][] = []
  let bytes = Infinity
  for (const path of paths) {
    bytes += Buffer.byteLength(path) + 1
    if (bytes > BYTES_PER_CALL || (calls.at(-1)?.length ?? 0) >= PATHS_PER_CALL) {
      calls.push([])
      bytes = Buffer.byteLength(path) + 1
    }
    calls.at(-1)?.push(path)
  }
  return calls
}
