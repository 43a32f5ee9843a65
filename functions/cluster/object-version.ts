import { member, textMember } from '../domain/json-value.ts'
import { MISSING, UNREADABLE } from '../domain/resource/waiting.ts'
import { bodyOf } from './answer.ts'
import type { ApiAnswer } from './api-server.ts'

/**
 * Asks for the metadata alone, so that what an object holds is not sent. An aggregated API that cannot do that may send all:
 * https://kubernetes.io/docs/reference/using-api/api-concepts/#metadata-only-fetches
 */
export const METADATA = 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json'
/** The metadata of an object has some 500 KiB at most: annotations, and who manages its fields. */
const LARGEST_METADATA = 1024 * 1024

/** Uid and resourceVersion: another object, or another state of it, has another version. */
export function versionOf(metadata: unknown): string {
  return `${textMember(metadata, 'uid') ?? ''}/${textMember(metadata, 'resourceVersion') ?? ''}`
}

/** The version in the answer to a GET. Throws a Failure if the API server has not said whether there is such an object. */
export function versionIn(answer: ApiAnswer, what: string): string {
  if (answer.status === 404) return MISSING
  if (answer.status === 401 || answer.status === 403) return UNREADABLE
  // Too large to be parsed at once, and there.
  if (answer.status === 200 && answer.text.length > LARGEST_METADATA) return '/'
  return versionOf(member(bodyOf(answer, what), 'metadata'))
}
