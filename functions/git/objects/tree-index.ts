import { brokenObject, ID_BYTES } from './object.ts'

/** The name of an entry: these bytes, and whether it sorts as that of a directory. */
export interface EntryName {
  readonly bytes: Buffer
  readonly start: number
  readonly end: number
  readonly isDirectory: boolean
}

/** An entry in the bytes of a tree: the mode from `at`, the name from `start` to `end`, a NUL, 20 bytes of id. */
export interface EntrySpan extends EntryName {
  readonly at: number
}

const SPACE = 0x20
const SLASH = 0x2f
const ZERO = 0x30
const FOUR = 0x34
const SEVEN = 0x37
const LONGEST_MODE = 6
const DIRECTORY_MODE = 5

/** Where the entries of a tree begin. An object for each of 10,000 entries would take more memory than the tree. */
export interface TreeIndex {
  readonly bytes: Buffer
  readonly starts: readonly number[]
}

/**
 * Finds the entries of a tree. Checks the whole tree.
 * @throws Failure NotSupported for what `git fsck --strict` does not accept of the form, the order and the names, except
 * zeros before a mode
 */
export function indexTree(bytes: Buffer): TreeIndex {
  const starts: number[] = []
  // Files whose name is the beginning of the last one: only after these can a directory of the same name come.
  const files: EntrySpan[] = []
  let last: EntrySpan | undefined
  for (let at = 0; at < bytes.length; at = endOf(last)) {
    const span = readSpan(bytes, at)
    if (last !== undefined && compareNames(last, span) >= 0)
      throw brokenObject('the entries of a tree are not in order')
    while (files.length > 0 && !beginsWith(span, files.at(-1))) files.pop()
    if (span.isDirectory && files.some((file) => length(file) === length(span)))
      throw brokenObject('a tree has two entries of one name')
    if (!span.isDirectory) files.push(span)
    starts.push(at)
    last = span
  }
  return { bytes, starts }
}

/** Every entry of a tree, in order. */
export function* entriesOf(index: TreeIndex): Generator<EntrySpan, void> {
  for (let i = 0; i < index.starts.length; i++) yield spanAt(index, i)
}

/** Where the next entry begins. */
export function endOf({ end }: EntrySpan): number {
  return end + 1 + ID_BYTES
}

/** The entry of this name (its bytes as latin1), whatever its kind. */
export function findEntry(index: TreeIndex, name: string): EntrySpan | undefined {
  const bytes = Buffer.from(name, 'latin1')
  for (const isDirectory of [false, true]) {
    const wanted = { bytes, start: 0, end: bytes.length, isDirectory }
    const i = numberOf(index, wanted)
    const found = i < index.starts.length ? spanAt(index, i) : undefined
    if (found !== undefined && compareNames(found, wanted) === 0) return found
  }
  return undefined
}

/** Where the first entry begins that does not sort before this one; the end of the tree if there is none. */
export function placeOf(index: TreeIndex, name: EntryName): number {
  return index.starts[numberOf(index, name)] ?? index.bytes.length
}

/** The number of the first entry that does not sort before this one; that of all entries if there is none. */
function numberOf(index: TreeIndex, name: EntryName): number {
  let low = 0
  let high = index.starts.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (compareNames(spanAt(index, middle), name) < 0) low = middle + 1
    else high = middle
  }
  return low
}

/** The entry of this number. Its name was checked, and is not read again: one may have 2 MiB, and hundreds are looked for. */
function spanAt({ bytes, starts }: TreeIndex, i: number): EntrySpan {
  const at = starts[i] ?? 0
  return spanOf(bytes, at, (starts[i + 1] ?? bytes.length) - ID_BYTES - 1)
}

/** Git's order: by bytes, as if the name of a directory ended in `/` (base_name_compare() of Git). */
export function compareNames(one: EntryName, other: EntryName): number {
  for (let i = 0; ; i++) {
    const a = byteOf(one, i)
    const b = byteOf(other, i)
    if (a !== b || a < 0) return a - b
  }
}

// -1 is the end.
function byteOf({ bytes, start, end, isDirectory }: EntryName, i: number): number {
  const at = start + i
  if (at < end) return bytes[at] ?? -1
  return at === end && isDirectory ? SLASH : -1
}

function length({ start, end }: EntryName): number {
  return end - start
}

function beginsWith(name: EntryName, beginning: EntryName | undefined): boolean {
  if (beginning === undefined || length(beginning) > length(name)) return false
  for (let i = 0; i < length(beginning); i++)
    if (name.bytes[name.start + i] !== beginning.bytes[beginning.start + i]) return false
  return true
}

function readSpan(bytes: Buffer, at: number): EntrySpan {
  const start = endOfMode(bytes, at) + 1
  const end = bytes.indexOf(0, start)
  if (end < 0 || end + ID_BYTES >= bytes.length) throw brokenObject('a tree ends within an entry')
  if (!isAllowedAt(bytes, start, end)) throw brokenObject('a tree has an entry whose name Git does not allow')
  if (isNull(bytes, end + 1)) throw brokenObject('a tree has an entry without an object')
  return spanOf(bytes, at, end)
}

function spanOf(bytes: Buffer, at: number, end: number): EntrySpan {
  const start = endOfMode(bytes, at) + 1
  // The type of 40000, of old modes such as 40755, and of 040000, which some tools wrote.
  const first = bytes[at] === ZERO ? at + 1 : at
  const isDirectory = bytes[first] === FOUR && start - first === DIRECTORY_MODE + 1
  return { bytes, at, start, end, isDirectory }
}

function endOfMode(bytes: Buffer, at: number): number {
  let end = at
  while (isDigit(bytes[end])) end++
  if (end === at || end - at > LONGEST_MODE || bytes[end] !== SPACE)
    throw brokenObject('a tree has an entry without a valid mode')
  return end
}

function isDigit(byte = 0): boolean {
  return byte >= ZERO && byte <= SEVEN
}

function isNull(bytes: Buffer, start: number): boolean {
  for (let i = 0; i < ID_BYTES; i++) if (bytes[start + i] !== 0) return false
  return true
}

// The text is made only of a name that may be a forbidden one: 10,000 names are checked in about 1 ms.
function isAllowedAt(bytes: Buffer, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (bytes[at] === SLASH) return false
  const isPlain = end > start && !mayBeForbidden(bytes[start] ?? 0, bytes[start + 1] ?? 0)
  return isPlain || isAllowedName(bytes.toString('latin1', start, end))
}

/** Forbidden names begin with `.`, `g`, `G`, or a character that HFS+ ignores. */
function mayBeForbidden(first: number, second: number): boolean {
  if (first === 0xe2) return second === 0x80 || second === 0x81
  if (first === 0xef) return second === 0xbb
  return first === 0x2e || first === 0x67 || first === 0x47
}

/** Whether `git fsck --strict` accepts the name (its bytes as latin1) of an entry. */
export function isAllowedName(name: string): boolean {
  return name !== '' && name !== '.' && name !== '..' && !/[/\0]/.test(name) && !isDotGit(name)
}

// As is_ntfs_dotgit() and is_hfs_dotgit() of Git, which `git fsck` asks.
function isDotGit(name: string): boolean {
  return /^(?:\.git|git~1)[. ]*(?:$|[:\\])/i.test(name) || HFS_DOT_GIT.test(name)
}

/** U+200C to U+200F, U+202A to U+202E, U+206A to U+206F and U+FEFF, which HFS+ ignores, in UTF-8 as latin1. */
const IGNORED = String.raw`(?:\xe2\x80[\x8c-\x8f\xaa-\xae]|\xe2\x81[\xaa-\xaf]|\xef\xbb\xbf)*`
const HFS_DOT_GIT = new RegExp(`^${['', '[.]', '[gG]', '[iI]', '[tT]', ''].join(IGNORED)}$`)
