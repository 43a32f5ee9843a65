import type { JSONNode } from '../manifest/json-node.ts'
import { blockText, inlineText, type NewText } from './new-text.ts'
import { lineEnd, mayEndInLiteral, previousLineEnd, type Lines, type Splice } from './splice.ts'
import { childrenOf, type ScalarStyle, type TreeMapping, type TreeNode, type TreeSequence } from './tree.ts'

/** From a key or a dash to the lines of its literal, and from a dash to those of its list or mapping. */
const LITERAL_WIDTH = 2

/** Replaces a value of a block mapping or a block list, so that only its own lines change. */
export function replacedInBlock(
  file: Lines,
  {
    node,
    parent,
    root,
  }: { readonly node: TreeNode; readonly parent: TreeMapping | TreeSequence; readonly root: TreeNode },
  value: JSONNode,
): readonly Splice[] {
  const { text, newline, requireRoom } = file
  const literal = mayEndInLiteral(text, node.end, literalIndent(parent))
  const fresh = blockText(value, styleOf(node), { literal, requireRoom })
  const [head, lines] = placed(fresh, { file, parent, root, node })
  const body = lines.map((line) => `${newline}${line}`).join('')
  if (text.slice(node.after, node.start).includes('\n'))
    return replacedBelow(text, node, { head, body, kind: fresh.kind })
  // Without a head the space before the old value goes too.
  const start = head === '' ? node.after : node.start
  if (node.kind === 'scalar' && node.headerEnd !== undefined) {
    const { headerEnd, end } = node
    return [
      { start, end: headerEnd, text: head },
      { start: lineEnd(text, headerEnd), end, text: body },
    ]
  }
  const isBlock = node.kind !== 'scalar' && node.kind !== 'alias' && !node.flow
  const end = isBlock ? lineEnd(text, node.end) : node.end
  const isEmptyBefore = node.start === node.end
  const inline = { start, end, text: isEmptyBefore && head !== '' ? ` ${head}` : head }
  const below = lineEnd(text, end)
  if (body === '') return [inline]
  return below === end
    ? [{ ...inline, text: `${inline.text}${body}` }]
    : [inline, { start: below, end: below, text: body }]
}

/** The same for a value that begins on a line below its key. */
function replacedBelow(
  text: string,
  { start, end, after, ...node }: TreeNode,
  { head, body, kind }: { readonly head: string; readonly body: string; readonly kind: NewText['kind'] },
): readonly Splice[] {
  const isFlow = node.kind === 'alias' || (node.kind === 'scalar' ? node.headerEnd === undefined : node.flow)
  if (isFlow && kind === 'inline') return [{ start, end, text: head }]
  // A literal has to follow its header at once; before other values the comments below the key stay.
  const from = kind === 'literal' ? lineEnd(text, after) : previousLineEnd(text, start)
  const removed = { start: from, end: lineEnd(text, end), text: body }
  if (head === '') return [removed]
  return from === after
    ? [{ ...removed, text: ` ${head}${body}` }]
    : [{ start: after, end: after, text: ` ${head}` }, removed]
}

/** Adds a member at the end of a block mapping, with the indentation and the quotes of its last one. */
export function addedToBlock(
  file: Lines,
  { parent, name, root }: { readonly parent: TreeMapping; readonly name: string; readonly root: TreeNode },
  value: JSONNode,
): readonly Splice[] {
  const { text, newline, requireRoom } = file
  const last = parent.members.at(-1)
  const keyStyle = last?.key.kind === 'scalar' ? last.key.style : 'plain'
  const literal = mayEndInLiteral(text, parent.end, literalIndent(parent))
  const fresh = blockText(value, quotesOf(last?.value), { literal, requireRoom })
  const [head, lines] = placed(fresh, { file, parent, root })
  const key = `${' '.repeat(parent.indent)}${inlineText(name, keyStyle, false)}:${head === '' ? '' : ` ${head}`}`
  const at = lineEnd(text, parent.end)
  return [{ start: at, end: at, text: [key, ...lines].map((line) => `${newline}${line}`).join('') }]
}

/** The quotes of a value, for those of a sibling. */
export function quotesOf(node: TreeNode | undefined): ScalarStyle {
  const isQuoted = node?.kind === 'scalar' && (node.style === 'single' || node.style === 'double')
  return isQuoted ? node.style : 'plain'
}

function styleOf(node: TreeNode): ScalarStyle {
  return node.kind === 'scalar' ? node.style : 'plain'
}

/** How many blanks the lines of a literal begin with. */
function literalIndent({ indent }: TreeMapping | TreeSequence): number {
  return indent + LITERAL_WIDTH
}

/** The head and the indented lines below it. In a list, a list or mapping begins on the line of the dash. */
function placed(
  { head, lines, kind }: NewText,
  {
    file,
    parent,
    root,
    node,
  }: {
    readonly file: Lines
    readonly parent: TreeMapping | TreeSequence
    readonly root: TreeNode
    readonly node?: TreeNode
  },
): readonly [string, readonly string[]] {
  const isItem = parent.kind === 'sequence'
  const width =
    kind === 'literal' || isItem ? LITERAL_WIDTH : (indentationOf(kind, node, parent) ?? stepIn(root, kind))
  const indented = lines.filter((line) => line !== '').length * (parent.indent + width)
  file.requireRoom(lines.reduce((sum, line) => sum + line.length, indented))
  const indent = ' '.repeat(parent.indent + width)
  const [first = '', ...rest] = lines.map((line) => (line === '' ? '' : `${indent}${line}`))
  if (lines.length === 0 || kind === 'literal' || !isItem)
    return [head, lines.length === 0 ? [] : [first, ...rest]]
  return [first.trimStart(), rest]
}

/** How far a value of this kind stood to the right of its key; undefined if it was none. */
function indentationOf(
  kind: NewText['kind'],
  node: TreeNode | undefined,
  { indent }: TreeMapping | TreeSequence,
): number | undefined {
  const isSame = kind === 'list' ? node?.kind === 'sequence' : node?.kind === 'mapping'
  if (!isSame || node === undefined || node.kind === 'scalar' || node.kind === 'alias' || node.flow)
    return undefined
  return node.indent - indent
}

/** The same for the first such value of the document: two columns for a mapping, none for a list if there is none. */
function stepIn(root: TreeNode, kind: NewText['kind']): number {
  const open: TreeNode[] = [root]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    const step = stepAt(node, kind)
    if (step !== undefined) return step
    for (const child of childrenOf(node).toReversed()) open.push(child)
  }
  return kind === 'list' ? 0 : 2
}

function stepAt(node: TreeNode, kind: NewText['kind']): number | undefined {
  if (node.kind !== 'mapping' || node.flow) return undefined
  const steps = node.members.map(({ value }) => indentationOf(kind, value, node))
  return steps.find((step) => step !== undefined)
}
