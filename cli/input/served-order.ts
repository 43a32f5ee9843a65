import { isList, isMapping, type Tree } from './yaml-documents.ts'

/** The fields of metadata in the order of the API server's type (ObjectMeta of meta/v1). */
const METADATA = [
  'name',
  'generateName',
  'namespace',
  'uid',
  'resourceVersion',
  'labels',
  'annotations',
  'ownerReferences',
  'finalizers',
]
/** The fields of a ConfigMap and of a Secret, likewise. */
const DATA = ['apiVersion', 'kind', 'metadata', 'immutable', 'data', 'stringData', 'binaryData', 'type']
/** Groups whose kinds the API server knows itself; those of others are sent with sorted keys. */
const BUILT_IN = /^(?:[^.]+|.+\.k8s\.io)$/

/**
 * The object in the order in which an API server sends it, so that the same bytes are committed: metadata in the order of
 * its type, keys of ConfigMaps, labels and annotations sorted, custom resources sorted as a whole. The fields of other
 * built-in kinds stay in the order of the file. `namespace`: of an object that names none.
 */
export function inServedOrder(object: Tree, namespace: string | undefined): Tree {
  if (!isMapping(object)) return object
  const group = unquoted(object.get('apiVersion')).split('/').slice(0, -1).join('/')
  const isCustom = group !== '' && !BUILT_IN.test(group)
  const whole = isCustom
    ? sorted(object)
    : ['ConfigMap', 'Secret'].includes(unquoted(object.get('kind')))
      ? withData(object)
      : object
  const metadata = object.get('metadata')
  if (metadata === undefined || !isMapping(whole) || !isMapping(metadata)) return whole
  return new Map([...whole, ['metadata', metadataOf(metadata, namespace)]])
}

function metadataOf(metadata: ReadonlyMap<string, Tree>, namespace: string | undefined): Tree {
  const named =
    namespace === undefined || metadata.has('namespace')
      ? metadata
      : new Map([...metadata, ['namespace', JSON.stringify(namespace)]])
  const ordered = inOrderOf(METADATA, named)
  return new Map(
    [...ordered].map(([key, value]) => [
      key,
      ['labels', 'annotations'].includes(key) ? sorted(value) : value,
    ]),
  )
}

function withData(object: ReadonlyMap<string, Tree>): Tree {
  const maps = ['data', 'binaryData', 'stringData']
  return new Map(
    [...inOrderOf(DATA, object)].map(([key, value]) => [key, maps.includes(key) ? sorted(value) : value]),
  )
}

function inOrderOf(names: readonly string[], mapping: ReadonlyMap<string, Tree>): ReadonlyMap<string, Tree> {
  const place = (key: string): number => (names.includes(key) ? names.indexOf(key) : names.length)
  return new Map([...mapping].toSorted(([one], [other]) => place(one) - place(other)))
}

/** As Go writes maps: by the bytes of their keys. */
function sorted(tree: Tree): Tree {
  if (isList(tree)) return tree.map(sorted)
  if (!isMapping(tree)) return tree
  const entries = [...tree].toSorted(([one], [other]) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
  return new Map(entries.map(([key, value]) => [key, sorted(value)]))
}

function unquoted(tree: Tree | undefined): string {
  if (typeof tree !== 'string') return ''
  const value: unknown = JSON.parse(tree)
  return typeof value === 'string' ? value : ''
}
