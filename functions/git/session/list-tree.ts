import { createPace } from '../objects/pace.ts'
import { DIRECTORY_MODE, pathsTo, ROOT, type Tree, type TreeEntry } from '../tree.ts'
import type { Session } from './session.ts'

const PATHS_PER_CALL = 500
const BYTES_PER_CALL = 64 * 1024

/**
 * Reads the entries of the commit at the paths and at every directory above them, without reading a blob, and how large the
 * directories are to which a name would be added.
 */
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
  const growing = new Set<string>()
  const wanted = new Set<string>()
  const pace = createPace(undefined)
  for (const path of paths) {
    const way = pathsTo(path)
    const missing = way.find((at) => !tree.has(at))
    if (missing !== undefined && isDirectory(tree, parentOf(missing))) growing.add(parentOf(missing))
    if (missing !== undefined && missing !== path) hidden.push(missing)
    for (const at of way) wanted.add(at)
    await pace(way.length * path.length)
  }
  const entries = [...tree, ...(await list(session, tip, hidden))]
  return new Map([
    ...entries.filter(([path]) => wanted.has(path)),
    ...(await lookInto(session, tip, { tree, paths: [...growing] })),
  ])
}

function parentOf(path: string): string {
  return path.slice(0, Math.max(0, path.lastIndexOf('/')))
}

// Not a file, of which git would load the content.
function isDirectory(tree: Tree, path: string): boolean {
  return path === ROOT || tree.get(path)?.mode === DIRECTORY_MODE
}

/** The entries of directories, with their sizes. */
async function lookInto(
  session: Session,
  tip: string,
  { tree, paths }: { readonly tree: Tree; readonly paths: readonly string[] },
): Promise<Listing> {
  if (paths.length === 0) return []
  const names = paths.map((path) => (path === ROOT ? `${tip}^{tree}` : (tree.get(path)?.oid ?? '')))
  const input = Buffer.from(names.map((name) => `${name}\n`).join(''))
  const sizes = await session.offline(['cat-file', '--batch-check=%(objectname) %(objectsize)'], input)
  return sizes
    .trimEnd()
    .split('\n')
    .map((line, at) => {
      const [oid = '', bytes] = line.split(' ')
      return [paths[at] ?? ROOT, { mode: DIRECTORY_MODE, oid, bytes: Number(bytes) }] as const
    })
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
