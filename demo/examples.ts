import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { member, textMember } from '../functions/domain/json-value.ts'
import { ALLOWED_REPOSITORIES, API_VERSION } from '../functions/domain/resource/api-names.ts'
import type { StoredObject } from '../test/harness/memory-cluster.ts'

/** A file of examples/, adapted to the demo's Git server. */
export interface Example {
  readonly file: string
  readonly text: string
  readonly objects: readonly StoredObject[]
}

/** The placeholders in the files for a host and a token. */
const PLACEHOLDERS = { host: 'git.example.com', token: 'replace-with-your-token' } as const
const FOLDER = join(import.meta.dirname, '../examples')

/**
 * Reads examples/ with the demo's host (`localhost:PORT`) and token filled in. The files with Secrets come first:
 * a GitCommit that is applied before its Secret would have to be retried.
 */
export async function readExamples(host: string, token: string): Promise<readonly Example[]> {
  const examples = (await readFolder(FOLDER)).map(({ file, text: original }) => {
    const text = original.replaceAll(PLACEHOLDERS.host, host).replaceAll(PLACEHOLDERS.token, token)
    return { file, text, objects: readObjects(`examples/${file}`, text) }
  })
  return [...examples.filter(holdsSecret), ...examples.filter((example) => !holdsSecret(example))]
}

async function readFolder(folder: string): Promise<readonly Example[]> {
  const files = (await readdir(folder)).filter((file) => file.endsWith('.yaml')).sort()
  return Promise.all(
    files.map(async (file) => {
      const text = await readFile(join(folder, file), 'utf8')
      return { file, text, objects: readObjects(`examples/${file}`, text) }
    }),
  )
}

/**
 * One sentence if a file of the folder names another Git host than the placeholder: a user may have entered their own
 * host, and the demo would call it with their token.
 */
export async function changedExample(folder = FOLDER): Promise<string | undefined> {
  const examples = await readFolder(folder)
  const changed = examples.find(({ objects }) => !objects.every(isUntouched))
  if (changed === undefined) return undefined
  return `examples/${changed.file} no longer names ${PLACEHOLDERS.host}, which the demo replaces by its own Git server; move your file out of examples/ and restore the original (git checkout examples).`
}

function isUntouched(object: StoredObject): boolean {
  const allowed =
    textMember(member(object.metadata, 'annotations'), ALLOWED_REPOSITORIES) ?? PLACEHOLDERS.host
  const entries = allowed.split(',').map((entry) => entry.trim())
  if (!entries.every((entry) => `${entry}/`.startsWith(`${PLACEHOLDERS.host}/`))) return false
  if (object.apiVersion !== API_VERSION) return true
  const repository = textMember(member(object, 'spec'), 'repository') ?? ''
  return repository.startsWith(`https://${PLACEHOLDERS.host}/`)
}

function holdsSecret({ objects }: Example): boolean {
  return objects.some(({ kind }) => kind === 'Secret')
}

/** The objects of a YAML file. Throws where one has no apiVersion, kind or name. */
export function readObjects(file: string, text: string): readonly StoredObject[] {
  return parseAllDocuments(text).map((document) => {
    const object: unknown = document.toJS()
    if (isObject(object)) return object
    throw new Error(`${file} holds a document without apiVersion, kind or metadata.name.`)
  })
}

function isObject(value: unknown): value is StoredObject {
  const named = textMember(member(value, 'metadata'), 'name') !== undefined
  return named && textMember(value, 'apiVersion') !== undefined && textMember(value, 'kind') !== undefined
}
