import {
  isAlias,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  parseAllDocuments,
  type Alias,
  type Document,
  type Pair,
  type Scalar,
} from 'yaml'
import { UsageError } from '../terminal/exit-codes.ts'

/** A value of a document: a mapping in its order, a list, or a scalar as JSON writes it, with every digit. */
export type Tree = ReadonlyMap<string, Tree> | readonly Tree[] | string

/** As JSON writes numbers: these keep their digits. */
const NUMBER = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
/** As deep as the API server reads. */
const DEEPEST = 100
/** What aliases may add to a text: the characters of their scalars, and so many for each node. */
const MOST_REPEATED = 16 * 1024 * 1024
const NODE = 64

/** Equal keys are looked for here: the library compares each with each, which takes minutes for 500,000. */
const OPTIONS = {
  version: '1.1',
  schema: 'yaml-1.1',
  merge: true,
  uniqueKeys: false,
  logLevel: 'silent',
} as const

/** A document that is read, and what its aliases may still add. */
interface Reading {
  readonly source: string
  readonly lines: LineCounter
  readonly document: Document
  /** The last node of each anchor so far; to look for it in the document takes long in a large one. */
  readonly anchors: Map<string, unknown>
  left: number
}

/**
 * The documents of a YAML or JSON text, read as kubectl reads them: YAML 1.1, where `yes` is a boolean; a date is a text.
 * @throws UsageError with the place of the first mistake
 */
export function documentsIn(text: string, source: string): readonly Tree[] {
  const lines = new LineCounter()
  const parsed = parseAllDocuments(text, { ...OPTIONS, lineCounter: lines })
  if ('empty' in parsed) return []
  return parsed.map((document: Document) => {
    const [error] = document.errors
    if (error !== undefined) {
      const [first = ''] = error.message.split('\n')
      throw new UsageError(`${source} is not YAML: ${first.replace(/:$/, '')}.`)
    }
    return treeOf(
      document.contents,
      { source, lines, document, anchors: new Map(), left: MOST_REPEATED },
      { depth: 0, repeated: false },
    )
  })
}

interface Entry {
  readonly pair: Pair
  readonly value: Tree
}

interface Where {
  readonly depth: number
  /** Behind an alias. */
  readonly repeated: boolean
}

function treeOf(node: unknown, reading: Reading, { depth, repeated }: Where): Tree {
  if (depth > DEEPEST)
    throw new UsageError('A document is deeper than the API server reads; make it flatter.')
  const below = { depth: depth + 1, repeated }
  if (repeated) spend(node, reading)
  if (isAlias(node)) return treeOf(targetOf(node, reading), reading, { ...below, repeated: true })
  if (!repeated && isNode(node) && node.anchor !== undefined) reading.anchors.set(node.anchor, node)
  if (isSeq(node)) return node.items.map((item) => treeOf(item, reading, below))
  if (!isMap(node)) return isScalar(node) ? scalarOf(node) : 'null'
  const own = new Map<string, Tree>()
  const merged = new Map<string, Tree>()
  for (const pair of node.items) {
    const value = treeOf(pair.value, reading, below)
    if (!isMerge(pair)) addNew(own, { pair, value }, reading)
    else addMissing(merged, mergedBy(value))
  }
  // What the mapping says itself counts, and of several merged ones the first.
  return new Map([...merged, ...own])
}

function targetOf(alias: Alias, { document, anchors }: Reading): unknown {
  return anchors.get(alias.source) ?? alias.resolve(document)
}

function spend(node: unknown, reading: Reading): void {
  reading.left -= NODE + (isScalar(node) ? (node.source?.length ?? 0) : 0)
  if (reading.left >= 0) return
  throw new UsageError('The aliases of a document repeat more than 16 MiB; write less by aliases.')
}

function addNew(to: Map<string, Tree>, { pair, value }: Entry, { source, lines }: Reading): void {
  const name = nameOf(pair)
  if (to.has(name)) {
    const { line, col } = lines.linePos(isNode(pair.key) ? (pair.key.range?.[0] ?? 0) : 0)
    throw new UsageError(
      `${source} is not YAML: a key is there a second time at line ${line}, column ${col}.`,
    )
  }
  to.set(name, value)
}

function addMissing(to: Map<string, Tree>, entries: readonly (readonly [string, Tree])[]): void {
  for (const [key, value] of entries) if (!to.has(key)) to.set(key, value)
}

function isMerge({ key }: Pair): boolean {
  return isScalar(key) && (key.value === '<<' || key.source === '<<')
}

function mergedBy(value: Tree): readonly (readonly [string, Tree])[] {
  if (isMapping(value)) return [...value]
  return isList(value) ? value.flatMap(mergedBy) : []
}

function nameOf(pair: Pair): string {
  const { key } = pair
  return isPair(pair) && isScalar(key) ? (key.source ?? String(key.value)) : String(key)
}

function scalarOf({ value, source }: Scalar): string {
  if (typeof value === 'number' || typeof value === 'bigint') {
    if (source !== undefined && NUMBER.test(source)) return source
    return Number.isFinite(Number(value)) ? String(value) : JSON.stringify(source ?? null)
  }
  const isText = value instanceof Date || value instanceof Uint8Array
  return JSON.stringify(isText ? (source ?? '') : (value ?? null))
}

/** Whether it is a mapping. */
export function isMapping(tree: Tree | undefined): tree is ReadonlyMap<string, Tree> {
  return tree instanceof Map
}

/** Whether it is a list. */
export function isList(tree: Tree): tree is readonly Tree[] {
  return Array.isArray(tree)
}

/** The tree as JSON. */
export function jsonOf(tree: Tree): string {
  if (typeof tree === 'string') return tree
  if (isList(tree)) return `[${tree.map(jsonOf).join(',')}]`
  return `{${[...tree].map(([key, value]) => `${JSON.stringify(key)}:${jsonOf(value)}`).join(',')}}`
}
