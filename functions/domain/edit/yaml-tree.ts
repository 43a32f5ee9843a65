import type { CST } from 'yaml'
import { lineAt, type Refuse } from './refusal.ts'
import type { TreeAlias, TreeDocument, TreeMember, TreeNode, TreeScalar } from './tree.ts'
import { readLeaf, type Properties, type Reading } from './yaml-leaf.ts'
import { invalidYAML, yamlDocuments } from './yaml-tokens.ts'

/**
 * Reads the documents of a YAML text; those without any value are left out, as kubectl does. Aliases are not followed.
 * Fails if it is not YAML or has a key twice, and for a key that is a list or a mapping, as `{{ … }}` of a template.
 */
export function readYAML(text: string, refuse: Refuse): readonly TreeDocument[] {
  const found = yamlDocuments(text, refuse).map((document) => {
    const reading = { text, refuse, anchors: new Set<string>(), aliases: new Set<string>() }
    return {
      root: readNode(document.value, propertiesOf(document.start, document.offset), reading),
      aliases: reading.aliases,
    }
  })
  return found.filter(({ root }) => root.kind !== 'scalar' || root.style !== 'empty')
}

function propertiesOf(tokens: readonly CST.SourceToken[], start: number): Properties {
  let found: Properties = { after: start }
  for (const { type, offset, source } of tokens) {
    if (type === 'space' || type === 'newline' || type === 'comment') continue
    const after = offset + source.length
    if (type === 'anchor') found = { ...found, after, anchor: source.slice(1) }
    else if (type === 'tag') found = { ...found, after, tag: source }
    else found = { ...found, after }
  }
  return found
}

function readNode(token: CST.Token | null | undefined, properties: Properties, reading: Reading): TreeNode {
  if (properties.anchor !== undefined) reading.anchors.add(properties.anchor)
  switch (token?.type) {
    case 'block-map':
      return readMapping(token, properties, reading)
    case 'block-seq':
      return readSequence(token, properties, reading)
    case 'flow-collection':
      return readFlow(token, properties, reading)
    default:
      return readLeaf(token, properties, reading)
  }
}

function readMapping(
  { items, offset, indent }: CST.BlockMap,
  properties: Properties,
  reading: Reading,
): TreeNode {
  const members = items
    .filter(({ sep }) => sep !== undefined)
    .map((item) => readMember(item, offset, reading))
  requireDistinct(members, reading)
  const end = members.at(-1)?.value.end ?? offset
  return { ...properties, kind: 'mapping', flow: false, indent, members, start: offset, end }
}

function readMember(item: CST.CollectionItem, offset: number, reading: Reading): TreeMember {
  const { text, refuse } = reading
  const key = readNode(item.key, propertiesOf(item.start, offset), reading)
  if (key.kind === 'mapping' || key.kind === 'sequence') {
    const line = lineAt(text, key.start)
    throw refuse(
      `has a list or a mapping as a key (line ${line}), as {{ … }} of a template; only plain YAML can be changed.`,
    )
  }
  // The library takes what follows a quoted key after `?` for its value, without any colon.
  const hasColon = item.sep?.some(({ type }) => type === 'map-value-ind') ?? false
  if (item.value && !hasColon) throw invalidYAML(reading, item.value.offset)
  const value = readNode(item.value, propertiesOf(item.sep ?? [], key.end), reading)
  return { name: nameOf(key, text), key, value }
}

function nameOf(key: TreeScalar | TreeAlias, text: string): string {
  return key.kind === 'scalar' && typeof key.value === 'string' ? key.value : text.slice(key.start, key.end)
}

function requireDistinct(members: readonly TreeMember[], { text, refuse }: Reading): void {
  const names = new Set<string>()
  for (const { name, key } of members) {
    if (key.kind === 'alias') continue
    if (names.has(name)) throw refuse(`has a key twice (line ${lineAt(text, key.start)}); fix the file.`)
    names.add(name)
  }
}

function readSequence(
  { items, offset, indent }: CST.BlockSequence,
  properties: Properties,
  reading: Reading,
): TreeNode {
  const read = items
    .filter(({ start }) => start.some(({ type }) => type === 'seq-item-ind'))
    .map(({ start, value }) => readNode(value, propertiesOf(start, offset), reading))
  const end = read.at(-1)?.end ?? offset
  return { ...properties, kind: 'sequence', flow: false, indent, items: read, start: offset, end }
}

function readFlow(token: CST.FlowCollection, properties: Properties, reading: Reading): TreeNode {
  const { offset: start, indent } = token
  const end = (token.end[0]?.offset ?? start) + 1
  const filled = token.items.filter(({ key, sep, value }) => (key ?? sep ?? value) !== undefined)
  const placed = { ...properties, flow: true, indent, start, end }
  if (token.start.source === '{') {
    const members = filled.map((item) => readMember(item, start, reading))
    requireDistinct(members, reading)
    return { ...placed, kind: 'mapping', members }
  }
  return { ...placed, kind: 'sequence', items: filled.map((item) => readFlowItem(item, start, reading)) }
}

/** An item of a list in brackets; `[a: 1]` is a mapping of one member. */
function readFlowItem(item: CST.CollectionItem, offset: number, reading: Reading): TreeNode {
  if (item.sep === undefined) return readNode(item.value, propertiesOf(item.start, offset), reading)
  const member = readMember(item, offset, reading)
  const [{ start, after }, { end }] = [member.key, member.value]
  return { kind: 'mapping', flow: true, indent: 0, members: [member], start, end, after }
}
