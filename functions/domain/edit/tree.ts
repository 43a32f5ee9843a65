import { isMapping, isSequence } from '../manifest/json-node.ts'
import type { JSONNode, NumberText } from '../manifest/json-node.ts'

/** A plain text that is a text in YAML 1.2 alone: readers of YAML 1.1 take it for another type, as `no` or a date. */
export interface UnclearText {
  readonly unclear: string
}

/** The value of a scalar, with the digits of numbers. */
export type ScalarValue = string | boolean | null | NumberText | UnclearText

/** How a scalar is written; `empty`: there is no text at all, which YAML reads as null. */
export type ScalarStyle = 'plain' | 'single' | 'double' | 'block' | 'empty'

interface Placed {
  /** Where its own text begins and ends, without what comes before it (anchor, tag) and without a final line end. */
  readonly start: number
  readonly end: number
  /** Where the sign before it (`:`, `-`), its anchor and its tag end. */
  readonly after: number
  readonly anchor?: string
  readonly tag?: string
}

export interface TreeScalar extends Placed {
  readonly kind: 'scalar'
  readonly style: ScalarStyle
  readonly value: ScalarValue
  /** Where the header of a block scalar ends. */
  readonly headerEnd?: number
}

/** A reference to a node with an anchor. It is never followed, so that no tree is larger than its text. */
export interface TreeAlias extends Placed {
  readonly kind: 'alias'
  readonly name: string
}

export interface TreeMember {
  /** The key as a text, as the path of a field names it. */
  readonly name: string
  readonly key: TreeScalar | TreeAlias
  readonly value: TreeNode
}

export interface TreeMapping extends Placed {
  readonly kind: 'mapping'
  /** In braces, as in JSON. */
  readonly flow: boolean
  /** Column of the keys. */
  readonly indent: number
  readonly members: readonly TreeMember[]
}

export interface TreeSequence extends Placed {
  readonly kind: 'sequence'
  readonly flow: boolean
  /** Column of the dashes. */
  readonly indent: number
  readonly items: readonly TreeNode[]
}

/** A value of a YAML or JSON text, and its place in the text. */
export type TreeNode = TreeScalar | TreeAlias | TreeMapping | TreeSequence

/** One document of a text. */
export interface TreeDocument {
  readonly root: TreeNode
  /** Names of the aliases in it. */
  readonly aliases: ReadonlySet<string>
}

const NOWHERE = { start: 0, end: 0, after: 0 }

/** The value as a tree without places; `numberText` says how a number is written. */
export function treeOf(node: JSONNode, numberText: (number: NumberText) => string): TreeNode {
  if (isSequence(node)) {
    const items = node.map((item) => treeOf(item, numberText))
    return { ...NOWHERE, kind: 'sequence', flow: false, indent: 0, items }
  }
  if (isMapping(node)) {
    const members = [...node].map(([name, value]) => memberOf(name, treeOf(value, numberText)))
    return { ...NOWHERE, kind: 'mapping', flow: false, indent: 0, members }
  }
  const value = typeof node === 'object' && node !== null ? { digits: numberText(node) } : node
  return { ...NOWHERE, kind: 'scalar', style: 'plain', value }
}

/** A member without a place. */
export function memberOf(name: string, value: TreeNode): TreeMember {
  return { name, key: { ...NOWHERE, kind: 'scalar', style: 'plain', value: name }, value }
}

/** The value with which a path compares a text or a number: a text that is unclear counts as the text that it shows. */
export function comparedValue({ value }: TreeScalar): Exclude<ScalarValue, UnclearText> {
  return typeof value === 'object' && value !== null && 'unclear' in value ? value.unclear : value
}

/** The values directly within a node, keys included. */
export function childrenOf(node: TreeNode): readonly TreeNode[] {
  if (node.kind === 'sequence') return node.items
  return node.kind === 'mapping' ? node.members.flatMap(({ key, value }) => [key, value]) : []
}

/** The way to a node of a tree: the number of a member or an item for each level. */
export type Trail = readonly number[]

/** Whether two trees have the same values, keys, anchors, aliases and tags in the same order, wherever they stand. */
export function sameTree(one: TreeNode, other: TreeNode): boolean {
  const open: (readonly [TreeNode, TreeNode])[] = [[one, other]]
  for (let pair = open.pop(); pair !== undefined; pair = open.pop()) {
    const [a, b] = pair
    if (!sameNode(a, b)) return false
    const [inA, inB] = [childrenOf(a), childrenOf(b)]
    if (inA.length !== inB.length) return false
    for (const [index, child] of inA.entries()) {
      const counterpart = inB[index]
      if (counterpart !== undefined && child !== counterpart) open.push([child, counterpart])
    }
  }
  return true
}

function sameNode(a: TreeNode, b: TreeNode): boolean {
  if (a.kind !== b.kind || a.anchor !== b.anchor || a.tag !== b.tag) return false
  if (a.kind === 'scalar' && b.kind === 'scalar') return sameValue(a.value, b.value)
  return a.kind !== 'alias' || b.kind !== 'alias' || a.name === b.name
}

function sameValue(a: ScalarValue, b: ScalarValue): boolean {
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return a === b
  if ('digits' in a) return 'digits' in b && a.digits === b.digits
  return 'unclear' in b && a.unclear === b.unclear
}

/** The tree with another node at the end of the trail, whose anchor it keeps. */
export function withNode(root: TreeNode, trail: Trail, node: TreeNode): TreeNode {
  const [index, ...rest] = trail
  if (index === undefined) return root.anchor === undefined ? node : { ...node, anchor: root.anchor }
  return withChild(root, index, (child) => withNode(child, rest, node))
}

/** The tree with one more member in the mapping at the end of the trail. */
export function withMember(root: TreeNode, trail: Trail, member: TreeMember): TreeNode {
  const [index, ...rest] = trail
  if (index !== undefined) return withChild(root, index, (child) => withMember(child, rest, member))
  return root.kind === 'mapping' ? { ...root, members: [...root.members, member] } : root
}

function withChild(node: TreeNode, index: number, change: (child: TreeNode) => TreeNode): TreeNode {
  if (node.kind === 'sequence') {
    const item = node.items[index]
    return item === undefined ? node : { ...node, items: node.items.with(index, change(item)) }
  }
  const member = node.kind === 'mapping' ? node.members[index] : undefined
  if (node.kind !== 'mapping' || member === undefined) return node
  return { ...node, members: node.members.with(index, { ...member, value: change(member.value) }) }
}
