import { isRecord } from '../../domain/json-value.ts'
import { bodyOf } from '../calls/answer.ts'
import type { ApiServer } from '../api-server.ts'

/** An object as it was read, which a write sends back with its resourceVersion. */
export type StoredObject = Readonly<Record<string, unknown>>

/** Where an object is. Both paths are escaped. */
export interface ObjectPlace {
  /** Of the object. */
  readonly path: string
  /** For messages, such as `Secret a/b`. */
  readonly what: string
}

/** The object; undefined if there is none. Throws a Failure as `bodyOf` does. */
export async function readStored(
  server: ApiServer,
  { path, what }: ObjectPlace,
): Promise<StoredObject | undefined> {
  const answer = await server({ method: 'GET', path })
  return answer.status === 404 ? undefined : objectIn(bodyOf(answer, what))
}

/** Writes it over what was read. Returns what is stored; undefined if another writer was first. Throws as `bodyOf` does. */
export async function replaceStored(
  server: ApiServer,
  { path, what }: ObjectPlace,
  body: StoredObject,
): Promise<StoredObject | undefined> {
  const answer = await server({ method: 'PUT', path, body })
  // 404: it was deleted meanwhile.
  return answer.status === 409 || answer.status === 404 ? undefined : objectIn(bodyOf(answer, what))
}

/** The same for an object that was not there; `all`: the path of its kind. */
export async function createStored(
  server: ApiServer,
  { all, what }: { readonly all: string; readonly what: string },
  body: StoredObject,
): Promise<StoredObject | undefined> {
  const answer = await server({ method: 'POST', path: all, body })
  return answer.status === 409 ? undefined : objectIn(bodyOf(answer, what))
}

function objectIn(body: unknown): StoredObject {
  return isRecord(body) ? body : {}
}
