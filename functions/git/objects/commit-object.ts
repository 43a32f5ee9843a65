import type { Identity } from '../../domain/commit/change.ts'
import type { Signer } from '../../domain/signing/signer.ts'
import { brokenObject, makeObject, type GitObject, type ObjectId } from './object.ts'

/** What is read of a commit. */
export interface DecodedCommit {
  readonly tree: ObjectId
  readonly parents: readonly ObjectId[]
  /** The committer's date; 1970 where Git cannot read it either. */
  readonly committedAt: Date
  readonly message: string
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
 * Reads a commit object; its message is taken for UTF-8.
 * @throws Failure NotSupported if it has no tree, a line that should name an object and does not, or a header of more than
 *   1 MiB
 */
export function decodeCommit(body: Buffer): DecodedCommit {
  const end = body.indexOf('\n\n')
  if ((end < 0 ? body.length : end) > LARGEST_HEADER)
    throw brokenObject('a commit has a header of more than 1 MiB')
  // Names are not read. A character takes one byte, whatever they are: parents keep their text in memory.
  const [tree = '', ...header] = body.toString('latin1', 0, end < 0 ? body.length : end).split('\n')
  const others = header.findIndex((line) => !line.startsWith('parent '))
  const parents = others < 0 ? header : header.slice(0, others)
  return {
    tree: idIn(tree, 'tree '),
    parents: parents.map((line) => idIn(line, 'parent ')),
    committedAt: dateIn(header.find((line) => line.startsWith('committer ')) ?? ''),
    message: end < 0 ? '' : body.toString('utf8', end + 2),
  }
}

function strip(text: string): string {
  return text.replace(/[\0\n\r<>]/g, '').trim()
}

function idIn(line: string, label: string): ObjectId {
  const id = line.slice(label.length)
  if (line.startsWith(label) && /^[0-9a-f]{40}$/.test(id)) return id
  throw brokenObject(`a commit has no valid line "${label.trim()}"`)
}

function dateIn(committer: string): Date {
  const [, seconds = '0'] = /> (\d{1,12}) [+-]\d+$/.exec(committer) ?? []
  return new Date(Number(seconds) * 1000)
}
