import type { FieldPath, FieldStep } from '../field-path/field-path.ts'
import { comparisonWith } from '../field-path/read-field.ts'
import {
  childrenOf,
  comparedValue,
  type Trail,
  type TreeDocument,
  type TreeMapping,
  type TreeMember,
  type TreeNode,
  type TreeSequence,
} from './tree.ts'

/** The place of a field: a value that is there, or the mapping in which the field is created. */
export type Place =
  | {
      readonly kind: 'value'
      readonly trail: Trail
      readonly node: TreeNode
      readonly parent: TreeMapping | TreeSequence
    }
  | { readonly kind: 'new'; readonly trail: Trail; readonly parent: TreeMapping; readonly name: string }

/** Finds the place of a field; a string is the end of a sentence that says why it cannot be set. */
export function locate({ root, aliases }: TreeDocument, path: FieldPath, mustExist: boolean): Place | string {
  const trail: number[] = []
  let node = root
  let parent: TreeMapping | TreeSequence | undefined
  for (const [depth, step] of path.steps.entries()) {
    const complaint = entryComplaint(node, path, aliases)
    if (complaint !== undefined) return complaint
    const index = indexOf(node, step)
    if (isMerge(node, index))
      return `has a merge (<<) at the field ${path.text}, whose fields count as those of the mapping around it; edit the file by hand.`
    const child = typeof index === 'number' ? valueAt(node, index) : undefined
    if (
      typeof index !== 'number' ||
      child === undefined ||
      (node.kind !== 'mapping' && node.kind !== 'sequence')
    ) {
      const isLast = depth === path.steps.length - 1
      if (!isLast || mustExist || node.kind !== 'mapping' || step.kind !== 'key')
        return missingComplaint(node, path, { depth, index, mustExist: mustExist && isLast })
      return { kind: 'new', trail, parent: node, name: step.key }
    }
    trail.push(index)
    parent = node
    node = child
  }
  const complaint = replaceComplaint(node, path, aliases)
  if (complaint !== undefined || parent === undefined) return complaint ?? 'names no field'
  return { kind: 'value', trail, node, parent }
}

/** The value of a field, without following aliases; undefined if there is none. */
export function nodeAt(root: TreeNode, { steps }: FieldPath): TreeNode | undefined {
  let node: TreeNode | undefined = root
  for (const step of steps) {
    const index: number | string | undefined = node === undefined ? undefined : indexOf(node, step)
    node = node !== undefined && typeof index === 'number' ? valueAt(node, index) : undefined
  }
  return node
}

/** The number of the member or item that a step means; a string says that several match. */
function indexOf(node: TreeNode, step: FieldStep): number | string | undefined {
  if (step.kind === 'key') {
    const index = node.kind === 'mapping' ? node.members.findIndex((member) => isNamed(member, step.key)) : -1
    return index < 0 ? undefined : index
  }
  if (node.kind !== 'sequence') return undefined
  if (step.kind === 'index') return step.index < node.items.length ? step.index : undefined
  const isSame = comparisonWith(step.value)
  const matching = node.items.flatMap((item, index) => {
    const value = comparedAt(item, step.keys)
    return value !== undefined && isSame(value) ? [index] : []
  })
  return matching.length > 1 ? `${matching.length} items` : matching[0]
}

// The key that an alias stands for has another name.
function isNamed({ name, key }: TreeMember, wanted: string): boolean {
  return name === wanted && key.kind !== 'alias'
}

/** Whether the member is a merge of YAML 1.1 (yaml.org/type/merge). */
function isMerge(node: TreeNode, index: number | string | undefined): boolean {
  const key = node.kind === 'mapping' && typeof index === 'number' ? node.members[index]?.key : undefined
  return key?.kind === 'scalar' && key.style === 'plain' && comparedValue(key) === '<<'
}

function comparedAt(item: TreeNode, keys: readonly string[]): ReturnType<typeof comparedValue> | undefined {
  let node: TreeNode | undefined = item
  for (const key of keys)
    node = node?.kind === 'mapping' ? node.members.find((member) => isNamed(member, key))?.value : undefined
  return node?.kind === 'scalar' ? comparedValue(node) : undefined
}

function valueAt(node: TreeNode, index: number): TreeNode | undefined {
  if (node.kind === 'sequence') return node.items[index]
  return node.kind === 'mapping' ? node.members[index]?.value : undefined
}

function entryComplaint(
  node: TreeNode,
  { text }: FieldPath,
  aliases: ReadonlySet<string>,
): string | undefined {
  if (node.kind === 'alias')
    return `has an alias on the way to the field ${text}; set the field where the anchor of the alias is.`
  if (node.anchor === undefined || !aliases.has(node.anchor)) return undefined
  return `has the field ${text} within an anchor that an alias repeats elsewhere, which would change too; edit the file by hand.`
}

function replaceComplaint(
  node: TreeNode,
  { text }: FieldPath,
  aliases: ReadonlySet<string>,
): string | undefined {
  if (node.tag !== undefined)
    return `has a tag at the field ${text}, which gives its value another meaning; edit the file by hand.`
  const open: TreeNode[] = [node]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.anchor !== undefined && aliases.has(next.anchor))
      return `has an anchor at the field ${text} that an alias repeats elsewhere; edit the file by hand.`
    for (const child of childrenOf(next)) open.push(child)
  }
  return undefined
}

function missingComplaint(
  node: TreeNode,
  { text }: FieldPath,
  { depth, index, mustExist }: { depth: number; index: number | string | undefined; mustExist: boolean },
): string {
  const place = depth === 0 ? 'the top' : `step ${depth}`
  if (typeof index === 'string')
    return `has no single field ${text}: ${index} of the list at ${place} match; compare another field.`
  if (node.kind === 'sequence') {
    const count = `${node.items.length} item${node.items.length === 1 ? '' : 's'}`
    return `has no field ${text}: there is a list of ${count} at ${place}; correct the field.`
  }
  if (node.kind !== 'mapping')
    return `has no field ${text}: there is no mapping or list at ${place}; set that field to one first.`
  if (mustExist) return `has no field ${text}, and mustExist is set; correct the field.`
  return `has no field ${text}: ${place} has no such key, and only the last step is created; correct the field.`
}
