import { isRecord, member } from '../../domain/json-value.ts'
import type { ApiServer } from '../api-server.ts'
import { createStored, readStored, replaceStored } from './stored-object.ts'
import type { StoredObject } from './stored-object.ts'

/** A Secret of texts as it was read. */
export interface StoredTexts {
  readonly texts: Readonly<Record<string, string>>
  /** The whole of it, which a write sends back. */
  readonly object: StoredObject
}

/** One Secret that Commitlet writes itself. Both calls throw a Failure: ReferenceForbidden, RateLimited, NetworkError, Timeout or ProviderUnavailable. */
export interface SecretStore {
  /** Undefined if there is none yet. */
  readonly read: () => Promise<StoredTexts | undefined>
  /** Writes all texts over what was read, or creates it. Returns what is stored; undefined if another writer was first. */
  readonly write: (
    texts: Readonly<Record<string, string>>,
    over: StoredTexts | undefined,
  ) => Promise<StoredTexts | undefined>
}

/** The Secret of this name at the API server. */
export function secretAt(
  server: ApiServer,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): SecretStore {
  const all = `/api/v1/namespaces/${encodeURIComponent(namespace)}/secrets`
  const place = { path: `${all}/${encodeURIComponent(name)}`, what: `Secret ${namespace}/${name}` }
  const blank = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { namespace, name, labels: { 'app.kubernetes.io/part-of': 'commitlet' } },
    type: 'kubernetes.io/tls',
  }
  return {
    read: async () => textsOf(await readStored(server, place)),
    async write(texts, over) {
      const data = Object.fromEntries(Object.entries(texts).map(([key, text]) => [key, encoded(text)]))
      const body = { ...(over?.object ?? blank), data }
      return textsOf(
        await (over === undefined
          ? createStored(server, { all, what: place.what }, body)
          : replaceStored(server, place, body)),
      )
    },
  }
}

function textsOf(object: StoredObject | undefined): StoredTexts | undefined {
  if (object === undefined) return undefined
  const data = member(object, 'data')
  const texts = Object.entries(isRecord(data) ? data : {}).map(
    ([key, value]) => [key, Buffer.from(String(value), 'base64').toString()] as const,
  )
  return { texts: Object.fromEntries(texts), object }
}

function encoded(text: string): string {
  return Buffer.from(text).toString('base64')
}
