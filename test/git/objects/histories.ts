import { byteName } from '../../../functions/git/objects/tree-object.ts'
import type { NewCommit, NewFile, RemovedFile } from '../../../functions/git/remote.ts'
import { importStream } from '../../../functions/git/session/fast-import.ts'
import type { Random } from './random.ts'

/** A tree to begin with: what is at each path, whose characters are bytes (latin1). */
export type Base = ReadonlyMap<string, Leaf>

export interface Leaf {
  readonly mode: string
  readonly content: Buffer
}

/** A tree and what is committed on it. */
export interface History {
  readonly base: Base
  readonly commits: readonly NewCommit[]
}

// Those that sort differently with and without the slash of a directory, and those that Git has to quote.
const NAMES = [
  'a',
  'a.b',
  'a-b',
  'a0',
  'ab',
  'A',
  'a b',
  'é',
  '名',
  '"q',
  'z',
  '-x',
  '.x',
  'x~1',
  '\u{1f600}',
  'á',
]
/** As bytes, also some that are not UTF-8. */
export const BYTE_NAMES = [...NAMES.map(byteName), '\xff', 'a\x80', '\xe9t\xe9', 'a\x01', 'a\t']
const MODES = ['100644', '100644', '100644', '100755', '120000', '160000']
const IDENTITIES = [
  { name: 'Ada', email: 'ada@example.com' },
  { name: ' Ünïcode <x>\n ', email: 'a>b\r\nc@example.com' },
  { name: '', email: '' },
  { name: 'half \ud800', email: 'x\0y' },
]
const MESSAGES = ['Write\n', 'No line end', '', 'Ü\n\nCommitlet-Id: 1\n', 'a\0b\n', '\n\nlate\n']

/** A tree of up to `most` files, and up to three commits on it. */
export function randomHistory(random: Random, most: number): History {
  const base = new Map<string, Leaf>()
  for (let i = random.int(most + 1); i > 0; i--) {
    const path = randomPath(random, BYTE_NAMES)
    if (!isTaken(base.keys(), path)) base.set(path, randomLeaf(random))
  }
  const now = new Map(base)
  const commits = Array.from({ length: 1 + random.int(3) }, () => randomCommit(random, now))
  return { base, commits }
}

function randomLeaf(random: Random): Leaf {
  const mode = random.pick(MODES)
  const content = mode === '160000' ? '1'.repeat(40) : `${random.int(50)}\n`
  return { mode, content: Buffer.from(content) }
}

function randomCommit(random: Random, now: Map<string, Leaf>): NewCommit {
  const files: (NewFile | RemovedFile)[] = []
  for (let i = random.int(5); i >= 0; i--) {
    const path = random.chance(0.3) ? pathIn(random, now) : randomPath(random, NAMES)
    const bytes = byteName(path)
    const old = now.get(bytes)?.mode ?? '100644'
    const earlier = files.some((file) => file.path === path)
    const isInTheWay = isTaken([...now.keys(), ...files.map((file) => byteName(file.path))], bytes)
    if (earlier || !old.startsWith('100') || isInTheWay) continue
    if (now.has(bytes) && random.chance(0.5)) {
      now.delete(bytes)
      files.push({ path })
      continue
    }
    const file = { path, mode: old, content: Buffer.from(`${random.int(50)}\n`) }
    now.set(bytes, file)
    files.push(file)
  }
  return {
    files,
    message: random.pick(MESSAGES),
    author: random.pick(IDENTITIES),
    date: new Date(random.int(2e9) * 1000 + random.int(1000)),
  }
}

/** A file that is there, if its name is UTF-8. */
function pathIn(random: Random, now: ReadonlyMap<string, Leaf>): string {
  const names = [...now.keys()].map((name) => Buffer.from(name, 'latin1').toString())
  const known = names.filter((name) => now.has(byteName(name)))
  return known.length === 0 ? randomPath(random, NAMES) : random.pick(known)
}

function randomPath(random: Random, names: readonly string[]): string {
  const depth = random.chance(0.01) ? 60 : 1 + random.int(4)
  return Array.from({ length: depth }, () => random.pick(names)).join('/')
}

// A file below another one, or a directory in place of a file.
function isTaken(paths: Iterable<string>, path: string): boolean {
  for (const other of paths)
    if (other !== path && (other.startsWith(`${path}/`) || path.startsWith(`${other}/`))) return true
  return false
}

/** A stream for `git fast-import`, which prints the name of the last commit of each. */
export function streamOf(histories: readonly History[]): Buffer {
  const parts = histories.flatMap(({ base, commits }) => [
    Buffer.from('reset refs/base\ncommit refs/base\ncommitter A <a@example.com> 1 +0000\ndata 0\n'),
    ...[...base].flatMap(leafStream),
    // Without its end: more follows.
    ...importStream('refs/base', commits).slice(0, -1),
    Buffer.from(`get-mark :${commits.length}\n`),
  ])
  return Buffer.concat([...parts, Buffer.from('done\n')])
}

function leafStream([path, { mode, content }]: readonly [string, Leaf]): readonly Buffer[] {
  const name = path.replace(/["\\]|[^ -~]/g, (one) => `\\${one.charCodeAt(0).toString(8).padStart(3, '0')}`)
  if (mode === '160000') return [Buffer.from(`M ${mode} ${content.toString()} "${name}"\n`)]
  return [Buffer.from(`M ${mode} inline "${name}"\ndata ${content.length}\n`), content, Buffer.from('\n')]
}
