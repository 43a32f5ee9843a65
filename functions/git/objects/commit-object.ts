import type { Identity } from '../../domain/commit/change.ts'
import type { Signer } from '../../domain/signing/signer.ts'
import { brokenObject, makeObject, type GitObject, type ObjectId } from './object.ts'

/** What is read of a commit. */
export interface DecodedCommit {
  readonly tree: ObjectId
  readonly parents: readonly ObjectId[]
  /** As it is stored, in UTF-8 as a rule. It may take almost all of the object. */
  readonly message: Buffer
}

/** What a commit is made of. */
export interface CommitParts {
  readonly tree: ObjectId
  readonly parents: readonly ObjectId[]
  /** Author and committer. */
  readonly author: Identity
  /** Author's and committer's date; whole seconds count. */
  readonly date: Date
  readonly message: string
}

/** 20,000 parents. Git knows no limit, and a few MiB of them take hardly any bytes in a pack. */
const LARGEST_HEADER = 1024 * 1024
/** Characters of a line with a name and a date. */
const LONGEST_LINE = 4_096
const TREE = 'tree '
const PARENT = 'parent '
const NAME_CHARACTERS = 40
const LINE_END = 0x0a

/** Makes the commit, the same bytes as those of `git fast-import` for the same parts. */
export function encodeCommit({ tree, parents, author, date, message }: CommitParts): GitObject {
  const by = identityLine(author, date)
  const header = [`tree ${tree}`, ...parents.map((parent) => `parent ${parent}`), `author ${by}`]
  const text = `${header.join('\n')}\ncommitter ${by}\n\n${messageText(message)}`
  return makeObject('commit', Buffer.from(text))
}

/**
 * Makes the commit with the signature of it in its last header, as `git commit -S` does (gitformat-signature(5)); without
 * a signer the commit as it is.
 * @throws what the signer throws
 */
export async function encodeSigned(parts: CommitParts, signer: Signer | undefined): Promise<GitObject> {
  const commit = encodeCommit(parts)
  if (signer === undefined) return commit
  const signature = await signer.sign(commit.body)
  const header = `\ngpgsig ${signature.trimEnd().replaceAll('\n', '\n ')}`
  const end = commit.body.indexOf('\n\n')
  return makeObject(
    'commit',
    Buffer.concat([commit.body.subarray(0, end), Buffer.from(header), commit.body.subarray(end)]),
  )
}

/** `Name <email> seconds +0000`. A line end or an angle bracket in a name would forge a header, or a command. */
export function identityLine({ name, email }: Identity, date: Date): string {
  return `${strip(name)} <${strip(email)}> ${Math.floor(date.getTime() / 1000)} +0000`
}

/** The message without NUL, at which Git would end it. */
export function messageText(message: string): string {
  return message.replaceAll('\0', '')
}

/**
 * The tree of a commit object, which its first line names. No other is looked at: a header may have as many as fill the object,
 * and a tip is read in each round of an attempt.
 * @throws Failure NotSupported if it names none
 */
export function treeOfCommit(body: Buffer): ObjectId {
  return idAt(body, 0, TREE)
}

/**
 * Reads a commit object.
 * @throws Failure NotSupported if it has no tree, a line that should name an object does not, or a header of more than 1 MiB
 */
export function decodeCommit(body: Buffer): DecodedCommit {
  const parents: ObjectId[] = []
  const tree = treeOfCommit(body)
  const end = body.subarray(0, LARGEST_HEADER).indexOf('\n\n')
  if (end < 0 && body.length > LARGEST_HEADER) throw brokenObject('a commit has a header of more than 1 MiB')
  for (let at = lengthOf(TREE); hasLabel(body, at, PARENT); at += lengthOf(PARENT))
    parents.push(idAt(body, at, PARENT))
  return { tree, parents, message: end < 0 ? Buffer.alloc(0) : body.subarray(end + 2) }
}

/** The committer's date of a commit object, in seconds since 1970; zero, as for Git, where its header has none. */
export function committedAt(body: Buffer): number {
  const end = body.subarray(0, LARGEST_HEADER).indexOf('\n\n')
  const header = body.subarray(0, end < 0 ? LARGEST_HEADER : end)
  const at = header.indexOf('\ncommitter ')
  const [line = ''] = at < 0 ? [] : header.toString('latin1', at + 1, at + 1 + LONGEST_LINE).split('\n', 1)
  return Number(/> (\d{1,15}) [+-]\d+$/.exec(line)?.[1] ?? 0)
}

function strip(text: string): string {
  return text.replace(/[\0\n\r<>]/g, '').trim()
}

function hasLabel(body: Buffer, at: number, label: string): boolean {
  return body.toString('latin1', at, at + label.length) === label
}

/** Bytes of a line that names an object. */
function lengthOf(label: string): number {
  return label.length + NAME_CHARACTERS + 1
}

function idAt(body: Buffer, at: number, label: string): ObjectId {
  const end = at + label.length + NAME_CHARACTERS
  const id = body.toString('latin1', at + label.length, end)
  const isWhole = (body[end] ?? LINE_END) === LINE_END
  if (hasLabel(body, at, label) && isWhole && /^[0-9a-f]{40}$/.test(id)) return id
  throw brokenObject(`a commit has no valid line "${label.trim()}"`)
}
