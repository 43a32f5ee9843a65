import type { FieldPath } from '../field-path/field-path.ts'
import type { JSONNode } from '../manifest/json-node.ts'
import { numberScalar } from '../manifest/yaml-scalar.ts'
import { addedToBlock, replacedInBlock } from './block-change.ts'
import { addedToFlow, replacedInFlow, type Format } from './flow-change.ts'
import type { Place } from './locate.ts'
import type { Lines, Splice } from './splice.ts'
import { memberOf, sameTree, treeOf, withMember, withNode, type TreeNode } from './tree.ts'

/** A field, and the value that it gets. */
export interface FieldValue {
  readonly field: FieldPath
  readonly value: JSONNode
}

/** The changes of the text for one field: none if it has the value already. */
export function splicesFor(
  lines: Lines,
  { place, root, format }: { readonly place: Place; readonly root: TreeNode; readonly format: Format },
  value: JSONNode,
): readonly Splice[] {
  if (place.kind === 'new') {
    const added = { parent: place.parent, name: place.name, root }
    return place.parent.flow
      ? addedToFlow(lines, added, { value, format })
      : addedToBlock(lines, added, value)
  }
  if (sameTree(place.node, withNode(place.node, [], newTree(value, format)))) return []
  const { node, parent } = place
  return parent.flow
    ? replacedInFlow(lines, node, value, format)
    : replacedInBlock(lines, { node, parent, root }, value)
}

/** The tree after the change. */
export function treeWith(
  root: TreeNode,
  place: Place,
  { value, format }: { value: JSONNode; format: Format },
): TreeNode {
  const node = newTree(value, format)
  return place.kind === 'new'
    ? withMember(root, place.trail, memberOf(place.name, node))
    : withNode(root, place.trail, node)
}

function newTree(value: JSONNode, format: Format): TreeNode {
  return treeOf(value, format === 'json' ? ({ digits }) => digits : numberScalar)
}
