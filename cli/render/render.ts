import { asFailure, Failure } from '../../functions/domain/failure.ts'
import { requireSound } from '../../functions/domain/schema/parse.ts'
import { flagOption, textOption, type Call } from '../call.ts'
import { chosenBy, type Chosen } from '../local/chosen.ts'
import { requireKept } from '../local/resource.ts'
import { openSite } from '../local/site.ts'
import { UsageError, type Outcome } from '../terminal/exit-codes.ts'
import { jsonText, plain, plainLine, styles } from '../terminal/style.ts'
import { unifiedDiff } from './diff.ts'
import { renderFiles, type RenderedFile } from './rendered-files.ts'

/**
 * `commitlet render`: the bytes that would be committed; with `--diff`, what would change on the branch. Exit code as
 * diff's: with `--diff`, `wrong` if something would change.
 */
export async function render(call: Call): Promise<Outcome> {
  const { terminal } = call
  const isDiff = flagOption(call, 'diff')
  const isJSON = textOption(call, 'output') === 'json'
  const chosen = (await chosenBy(call)).filter(({ kind }) => kind === 'GitCommit')
  if (chosen.length === 0) throw new UsageError('Only a GitCommit has files; name a GitCommit.')
  let changes = 0
  const all: object[] = []
  for (const one of chosen) {
    const files = await filesOf(one, call, isDiff)
    changes += files.filter(({ before, after }) => !isSame(before, after)).length
    if (isJSON) all.push({ resource: one.about, files: files.map(inJSON) })
    else print(files, { call, isDiff, isAlone: chosen.length === 1 })
  }
  if (isJSON) terminal.print(jsonText(all))
  return isDiff && changes > 0 ? 'wrong' : 'good'
}

async function filesOf(one: Chosen, { terminal }: Call, isDiff: boolean): Promise<readonly RenderedFile[]> {
  terminal.progress(`rendering ${one.about} …`)
  const resource = await one.resource()
  if (one.from === 'cluster') requireKept(resource)
  const sound = requireSound(resource.envelope, resource.parsed)
  if (sound.kind !== 'GitCommit') return []
  const site = openSite(one.connection.cluster, one.config, terminal.signal)
  try {
    const files = await renderFiles(sound, site, isDiff).catch(asFailure)
    terminal.progress('')
    if (!(files instanceof Failure)) return files
    throw files
  } finally {
    await site.close()
  }
}

interface Printing {
  readonly call: Call
  readonly isDiff: boolean
  readonly isAlone: boolean
}

/** One file as it is, so that it can be written somewhere; of several each has a heading. */
function print(files: readonly RenderedFile[], { call: { terminal }, isDiff, isAlone }: Printing): void {
  const styled = styles(terminal.colour)
  // What a branch or a file holds might act on a terminal; elsewhere it is the same to the byte.
  const isTerminal = terminal.columns !== undefined
  const shown = (text: string): string => (isTerminal ? plain(text) : text)
  const bytesOf = (after: Uint8Array): string | Uint8Array =>
    isTerminal ? plain(Buffer.from(after).toString()) : after
  if (isDiff) {
    for (const file of files)
      for (const line of unifiedDiff(file)) terminal.print(coloured(shown(line), styled))
    return
  }
  const [only] = files
  if (isAlone && files.length === 1 && only?.after !== undefined) {
    terminal.write(bytesOf(only.after))
    return
  }
  for (const { path, after } of files) {
    terminal.print(styled('bold', `==> ${plainLine(path)}${after === undefined ? ' (removed)' : ''} <==`))
    if (after !== undefined) terminal.write(bytesOf(after))
  }
}

function coloured(line: string, styled: ReturnType<typeof styles>): string {
  if (line.startsWith('---') || line.startsWith('+++')) return styled('bold', line)
  if (line.startsWith('@@')) return styled('cyan', line)
  if (line.startsWith('-')) return styled('red', line)
  return line.startsWith('+') ? styled('green', line) : line
}

function inJSON({ path, before, after }: RenderedFile): object {
  const text = (bytes: Uint8Array | undefined): object =>
    bytes === undefined ? {} : { content: Buffer.from(bytes).toString() }
  return { path, ...text(after), ...(before === undefined ? {} : { before: Buffer.from(before).toString() }) }
}

function isSame(before: Uint8Array | undefined, after: Uint8Array | undefined): boolean {
  return (
    before === after || (before !== undefined && after !== undefined && Buffer.compare(before, after) === 0)
  )
}
