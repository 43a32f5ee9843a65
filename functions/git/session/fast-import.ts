import type { Identity } from '../../domain/commit/change.ts'

/** One file in one commit, as git fast-import gets it. */
export interface Edit {
  readonly path: string
  /** 100644 or 100755. */
  readonly mode: string
  readonly content: Uint8Array
  readonly message: string
  readonly author: Identity
  /** Author's and committer's date; whole seconds count. */
  readonly date: Date
}

/** The ref that the last commit ends on. */
export const NEW_REF = 'refs/new'

/**
 * The stream for `git fast-import --done` (git-fast-import(1)): one commit per edit, stacked on `tip`, or
 * from nothing where it is undefined, marked :1, :2, … in order.
 */
export function importStream(tip: string | undefined, edits: readonly Edit[]): readonly Uint8Array[] {
  const commits = edits.flatMap((edit, i) => commit(edit, { mark: i + 1, from: i === 0 ? tip : undefined }))
  return [...commits, Buffer.from('done\n')]
}

/** Reads what `--export-marks` wrote: the commits' names in the order of their marks. */
export function readMarks(lines: readonly string[]): readonly string[] {
  const names: string[] = []
  for (const line of lines) {
    const [mark = '', name = ''] = line.split(' ')
    names[Number(mark.slice(1)) - 1] = name
  }
  return names
}

function commit(
  edit: Edit,
  at: { readonly mark: number; readonly from: string | undefined },
): readonly Uint8Array[] {
  const by = `${ident(edit.author)} ${Math.floor(edit.date.getTime() / 1000)} +0000`
  return [
    Buffer.from(`commit ${NEW_REF}\nmark :${at.mark}\nauthor ${by}\ncommitter ${by}\n`),
    ...data(Buffer.from(edit.message.replaceAll('\0', ''))),
    Buffer.from(
      `${at.from === undefined ? '' : `from ${at.from}\n`}M ${edit.mode} inline ${quotePath(edit.path)}\n`,
    ),
    ...data(edit.content),
  ]
}

function data(bytes: Uint8Array): readonly Uint8Array[] {
  return [Buffer.from(`data ${bytes.length}\n`), bytes, Buffer.from('\n')]
}

// A line's end in a name would be a command of its own.
function ident({ name, email }: Identity): string {
  return `${strip(name)} <${strip(email)}>`
}

function strip(text: string): string {
  return text.replace(/[\0\n\r<>]/g, '').trim()
}

function quotePath(path: string): string {
  if (!path.startsWith('"') && !path.includes('\n')) return path
  return `"${path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`
}
