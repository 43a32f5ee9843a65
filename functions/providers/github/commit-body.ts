import type { ApiCommit } from '../../domain/commit/commit-by-api.ts'
import type { SentBody } from '../../domain/pull-request/pull-requests.ts'

const MUTATION =
  'mutation ($input: CreateCommitOnBranchInput!) { createCommitOnBranch(input: $input) { commit { oid } } }'
/** Closes the changes of files, the input, the variables and the request. */
const END = '}}}}'
/** Base64 of three bytes has four characters (RFC 4648, section 4), so pieces of a multiple of three follow one another. */
const PIECE_BYTES = 48 * 1024

/**
 * The request for the commit, in pieces of up to 64 KiB: as a whole, contents of 10 MiB would be in memory four times, as
 * base64, as JSON, as its bytes and as what TLS makes of them, for as long as the host does not read them. Source: GitHub's
 * GraphQL reference, CreateCommitOnBranchInput.
 */
export function commitBody(commit: ApiCommit, repository: readonly string[]): SentBody {
  const parts = [Buffer.from(startOf(commit, repository)), ...additionsOf(commit), Buffer.from(`]${END}`)]
  return {
    bytes: parts.reduce(
      (sum, part) => sum + ('content' in part ? encodedLength(part.content) : part.length),
      0,
    ),
    *pieces() {
      for (const part of parts) {
        if ('content' in part) yield* encoded(part.content)
        else yield part
      }
    },
  }
}

/** Up to the first of the files that are written. */
function startOf({ branch, tip, message, files }: ApiCommit, repository: readonly string[]): string {
  const [, headline = '', body = ''] = /^([^\n]*)\n*(.*)$/s.exec(message) ?? []
  const deletions = files.flatMap(({ path, content }) => (content === undefined ? [{ path }] : []))
  const input = {
    branch: { repositoryNameWithOwner: repository.join('/'), branchName: branch },
    expectedHeadOid: tip,
    message: { headline, body },
    fileChanges: { deletions },
  }
  const whole = JSON.stringify({ query: MUTATION, variables: { input } })
  return `${whole.slice(0, -END.length)},"additions":[`
}

/** The files that are written, as JSON, with what has to be encoded between it. */
function additionsOf({ files }: ApiCommit): readonly (Buffer | { readonly content: Uint8Array })[] {
  const added = files.flatMap(({ path, content }) => (content === undefined ? [] : [{ path, content }]))
  return added.flatMap(({ path, content }, index) => [
    Buffer.from(`${index === 0 ? '' : ','}{"path":${JSON.stringify(path)},"contents":"`),
    { content },
    Buffer.from('"}'),
  ])
}

function encodedLength({ length }: Uint8Array): number {
  return Math.ceil(length / 3) * 4
}

function* encoded({ buffer, byteOffset, length }: Uint8Array): Generator<Buffer> {
  for (let at = 0; at < length; at += PIECE_BYTES) {
    const piece = Buffer.from(buffer, byteOffset + at, Math.min(PIECE_BYTES, length - at))
    yield Buffer.from(piece.toString('base64'), 'latin1')
  }
}
