import { createHash } from 'node:crypto'
import { createReadStream, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isRecord, member, textMember } from '../../functions/domain/json-value.ts'
import { UsageError } from '../terminal/exit-codes.ts'
import { textWithin } from '../terminal/limited-text.ts'
import type { Terminal } from '../terminal/terminal.ts'
import { inServedOrder } from './served-order.ts'
import { documentsIn, isList, isMapping, jsonOf, type Tree } from './yaml-documents.ts'

/** An object of a file. */
export interface FileObject {
  readonly apiVersion: string
  readonly kind: string
  readonly name: string
  /** As written; undefined if it is left out. */
  readonly namespace: string | undefined
  /** As parsed; large numbers have lost digits. */
  readonly value: Readonly<Record<string, unknown>>
  /** As JSON, as an API server would send it in this namespace, if it is in one; with every digit. */
  readonly jsonIn: (namespace: string | undefined) => string
  /** For messages. */
  readonly source: string
}

/** Most bytes of a file, and of standard input. */
const LARGEST = 16 * 1024 * 1024
const INPUT = 'standard input'
const NAMES = /\.(?:ya?ml|json)$/

/**
 * The objects of YAML and JSON files, of the files of folders, and of standard input for `-`, in their order; those of a
 * List one by one.
 * @throws UsageError for what cannot be read
 */
export async function readObjects(
  paths: readonly string[],
  readInput: Terminal['readInput'],
): Promise<readonly FileObject[]> {
  const found: FileObject[] = []
  for (const path of paths) {
    if (path === '-') found.push(...objectsIn(limited(await readInput(LARGEST), INPUT), INPUT))
    else for (const file of filesAt(path)) found.push(...objectsIn(await readText(file), file))
  }
  return found
}

function filesAt(path: string): readonly string[] {
  try {
    if (!statSync(path).isDirectory()) return [path]
    const names = readdirSync(path).filter((name) => NAMES.test(name))
    return names.toSorted().map((name) => join(path, name))
  } catch {
    throw new UsageError(
      `${path} cannot be read; name a file or a folder of YAML or JSON files, or - for standard input.`,
    )
  }
}

/** A named pipe, as of `-f <(kustomize build)`, is read to its end, as kubectl does. */
async function readText(file: string): Promise<string> {
  const text = textWithin(createReadStream(file), LARGEST).catch(() => {
    throw new UsageError(`${file} cannot be read; name a YAML or JSON file, or - for standard input.`)
  })
  return limited(await text, file)
}

function limited(text: string | undefined, source: string): string {
  if (text !== undefined) return text
  throw new UsageError(`${source} has more than 16 MiB, which is the limit; split it.`)
}

function objectsIn(text: string, source: string): readonly FileObject[] {
  return documentsIn(text, source).flatMap((tree) => {
    if (tree === 'null') return []
    if (!isMapping(tree) || tree.get('kind') !== '"List"') return [objectOf(tree, source)]
    const items = tree.get('items') ?? []
    return isList(items) ? items.map((item) => objectOf(item, source)) : []
  })
}

function objectOf(tree: Tree, source: string): FileObject {
  const value: unknown = JSON.parse(jsonOf(tree))
  const [apiVersion, kind] = [textMember(value, 'apiVersion'), textMember(value, 'kind')]
  const metadata = member(value, 'metadata')
  const [name, namespace] = [textMember(metadata, 'name'), textMember(metadata, 'namespace')]
  const jsonIn: FileObject['jsonIn'] = (of) => jsonOf(inServedOrder(withVersion(tree), of))
  if (isRecord(value) && apiVersion !== undefined && kind !== undefined && name !== undefined)
    return { apiVersion, kind, name, namespace, value, jsonIn, source }
  throw new UsageError(
    `${source} has a document that is no object of Kubernetes; each needs apiVersion, kind and metadata.name.`,
  )
}

/** By its content, so that a follower sees whether it has changed. Neither field is committed. */
function withVersion(tree: Tree): Tree {
  if (!isMapping(tree)) return tree
  const metadata = tree.get('metadata')
  if (!isMapping(metadata)) return tree
  const digest = createHash('sha256').update(jsonOf(tree)).digest('hex')
  const version = [
    ['uid', '"file"'],
    ['resourceVersion', JSON.stringify(digest)],
  ] as const
  return new Map([...tree, ['metadata', new Map([...version, ...metadata])]])
}
