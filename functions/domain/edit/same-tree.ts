import { childrenOf, type ScalarValue, type TreeMember, type TreeNode } from './tree.ts'

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
  const areNumbers = typeof a === 'object' && typeof b === 'object' && a !== null && b !== null
  return areNumbers ? a.digits === b.digits : a === b
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
