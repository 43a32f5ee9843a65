import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseAllDocuments } from 'yaml'
import { textMember, member } from '../functions/domain/member.ts'
import type { StoredObject } from '../test/harness/memory-cluster.ts'

/** A file of examples/, made ready for the demo's Git server. */
export interface Example {
  readonly file: string
  readonly text: string
  readonly objects: readonly StoredObject[]
}

/** What stands in the files in place of a real host and a real token. */
const PLACEHOLDERS = { host: 'git.example.com', token: 'replace-with-your-token' } as const
const FOLDER = join(import.meta.dirname, '../examples')

/**
 * Reads examples/ with the demo's host (`localhost:PORT`) and token in it. The files with Secrets come first:
 * a GitCommit that is applied before its Secret would have to be tried again.
 */
export async function readExamples(host: string, token: string): Promise<readonly Example[]> {
  const files = (await readdir(FOLDER)).filter((file) => file.endsWith('.yaml')).sort()
  const examples = await Promise.all(
    files.map(async (file) => {
      const original = await readFile(join(FOLDER, file), 'utf8')
      const text = original.replaceAll(PLACEHOLDERS.host, host).replaceAll(PLACEHOLDERS.token, token)
      return { file, text, objects: readObjects(file, text) }
    }),
  )
  return [...examples.filter(holdsSecret), ...examples.filter((example) => !holdsSecret(example))]
}

function holdsSecret({ objects }: Example): boolean {
  return objects.some(({ kind }) => kind === 'Secret')
}

function readObjects(file: string, text: string): readonly StoredObject[] {
  return parseAllDocuments(text).map((document) => {
    const object: unknown = document.toJS()
    if (isObject(object)) return object
    throw new Error(`examples/${file} holds a document without apiVersion, kind or metadata.name.`)
  })
}

function isObject(value: unknown): value is StoredObject {
  const named = textMember(member(value, 'metadata'), 'name') !== undefined
  return named && textMember(value, 'apiVersion') !== undefined && textMember(value, 'kind') !== undefined
}
