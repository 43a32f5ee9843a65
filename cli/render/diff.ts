import type { RenderedFile } from './rendered-files.ts'

/** Lines around a change that are shown, as git shows them. */
const CONTEXT = 3
/** With more lines on both sides the whole file is one change. */
const MOST_CELLS = 25_000_000

/** The lines of a unified diff (POSIX diff -u); none if nothing changes. */
export function unifiedDiff({ path, before, after }: RenderedFile): readonly string[] {
  const [old, young] = [before, after].map((bytes) => (bytes === undefined ? undefined : Buffer.from(bytes)))
  if (old?.equals(young ?? Buffer.alloc(0)) === true && young !== undefined) return []
  const heading = [
    `--- ${old === undefined ? '/dev/null' : `a/${path}`}`,
    `+++ ${young === undefined ? '/dev/null' : `b/${path}`}`,
  ]
  if ([old, young].some((bytes) => bytes?.includes(0) === true)) return [...heading, 'Binary files differ']
  const edits = editsBetween(linesOf(old), linesOf(young))
  return [...heading, ...hunksOf(edits).flatMap(({ header, lines }) => [header, ...lines])]
}

interface Edit {
  readonly mark: ' ' | '-' | '+'
  readonly text: string
}

/** A file without a final line end has a last line that says so, as git does. */
function linesOf(bytes: Buffer | undefined): readonly string[] {
  const text = bytes?.toString() ?? ''
  if (text === '') return []
  return text.endsWith('\n')
    ? text.slice(0, -1).split('\n')
    : `${text}\n\\ No newline at end of file`.split(/\n(?!\\ No newline at end of file$)/)
}

/** The edits of a longest common subsequence, after what both begin and end with is left out. */
function editsBetween(old: readonly string[], young: readonly string[]): readonly Edit[] {
  let head = 0
  while (head < old.length && head < young.length && old[head] === young[head]) head += 1
  let tail = 0
  while (tail < Math.min(old.length, young.length) - head && old.at(-1 - tail) === young.at(-1 - tail))
    tail += 1
  const same = (text: string): Edit => ({ mark: ' ', text })
  const middle = middleEdits(old.slice(head, old.length - tail), young.slice(head, young.length - tail))
  return [...old.slice(0, head).map(same), ...middle, ...old.slice(old.length - tail).map(same)]
}

function middleEdits(old: readonly string[], young: readonly string[]): readonly Edit[] {
  const removed = (text: string): Edit => ({ mark: '-', text })
  const added = (text: string): Edit => ({ mark: '+', text })
  if (old.length * young.length > MOST_CELLS) return [...old.map(removed), ...young.map(added)]
  const width = young.length + 1
  const lengths = new Uint32Array((old.length + 1) * width)
  for (let i = old.length - 1; i >= 0; i -= 1)
    for (let j = young.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] =
        old[i] === young[j]
          ? (lengths[(i + 1) * width + j + 1] ?? 0) + 1
          : Math.max(lengths[(i + 1) * width + j] ?? 0, lengths[i * width + j + 1] ?? 0)
  const edits: Edit[] = []
  let [i, j] = [0, 0]
  while (i < old.length || j < young.length) {
    const [one = '', other = ''] = [old[i], young[j]]
    if (i < old.length && j < young.length && one === other) {
      edits.push({ mark: ' ', text: one })
      i += 1
      j += 1
    } else if (
      j >= young.length ||
      (i < old.length && (lengths[(i + 1) * width + j] ?? 0) >= (lengths[i * width + j + 1] ?? 0))
    ) {
      edits.push(removed(one))
      i += 1
    } else {
      edits.push(added(other))
      j += 1
    }
  }
  return edits
}

interface Hunk {
  readonly header: string
  readonly lines: readonly string[]
}

function hunksOf(edits: readonly Edit[]): readonly Hunk[] {
  const changed = edits.flatMap(({ mark }, at) => (mark === ' ' ? [] : [at]))
  const ranges: [number, number][] = []
  for (const at of changed) {
    const last = ranges.at(-1)
    if (last !== undefined && at - CONTEXT <= last[1]) last[1] = at + CONTEXT + 1
    else ranges.push([Math.max(0, at - CONTEXT), at + CONTEXT + 1])
  }
  return ranges.map(([from, to]) => hunkOf(edits, from, Math.min(to, edits.length)))
}

function hunkOf(edits: readonly Edit[], from: number, to: number): Hunk {
  const count = (part: readonly Edit[], mark: Edit['mark']): number =>
    part.filter((edit) => edit.mark === ' ' || edit.mark === mark).length
  const [above, shown] = [edits.slice(0, from), edits.slice(from, to)]
  const range = (mark: Edit['mark']): string => {
    const length = count(shown, mark)
    return `${count(above, mark) + (length === 0 ? 0 : 1)}${length === 1 ? '' : `,${length}`}`
  }
  return {
    header: `@@ -${range('-')} +${range('+')} @@`,
    lines: shown.map(({ mark, text }) => `${mark}${text}`),
  }
}
