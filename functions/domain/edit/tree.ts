import { isMapping, isSequence } from '../manifest/json-node.ts'
import type { JSONNode, NumberText } from '../manifest/json-node.ts'

/** The value of a scalar, with the digits of numbers. */
export type ScalarValue = string | boolean | null | NumberText

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

/** The values directly within a node, keys included. */
export function childrenOf(node: TreeNode): readonly TreeNode[] {
  if (node.kind === 'sequence') return node.items
  return node.kind === 'mapping' ? node.members.flatMap(({ key, value }) => [key, value]) : []
}
