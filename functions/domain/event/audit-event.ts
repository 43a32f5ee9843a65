import { member, textMember } from '../json-value.ts'
import { isObjectName } from '../resource/resource.ts'
import { isHandled } from './api-server-resource.ts'
import type { Hint } from './hint.ts'
import { hintsAboutOther, kindOfPlural } from './object-ref.ts'

const STORING = ['create', 'update', 'patch']
const SUCCEEDED = [200, 201]

/**
 * Reads one event of an API server's audit log (audit.k8s.io/v1): the object that a request has stored. None for
 * anything else, because the operator's policy decides what comes: other stages, verbs and subresources, requests that
 * failed, dry runs, and what needs no event.
 */
export function readAuditEvent(event: unknown): readonly Hint[] {
  const target = member(event, 'objectRef')
  if (!hasStored(event) || textMember(target, 'subresource')) return []
  const stored = member(event, 'responseObject')
  // With generateName the name is in the answer alone, which level Metadata does not have: then a sweep finds it.
  const name = textMember(target, 'name') || textMember(member(stored, 'metadata'), 'name')
  if (name === undefined) return []
  const namespace = member(target, 'namespace')
  const kind = kindOfPlural(member(target, 'apiGroup'), member(target, 'resource'))
  if (kind === undefined) return hintsAboutOther(name, namespace)
  if (typeof namespace !== 'string' || ![name, namespace].every(isObjectName) || isHandled(stored)) return []
  return [{ about: 'resource', ref: { kind, namespace, name } }]
}

function hasStored(event: unknown): boolean {
  return (
    member(event, 'stage') === 'ResponseComplete' &&
    STORING.some((verb) => member(event, 'verb') === verb) &&
    SUCCEEDED.some((code) => member(member(event, 'responseStatus'), 'code') === code) &&
    !isDryRun(textMember(event, 'requestURI') ?? '')
  )
}

/** Longer than what clients send: its parameters are not read, and the request is left to a sweep. */
const LONGEST_URI = 16_384

/** These verbs have the parameter in the query: https://kubernetes.io/docs/reference/using-api/api-concepts/#dry-run */
function isDryRun(requestURI: string): boolean {
  if (requestURI.length > LONGEST_URI) return true
  const at = requestURI.indexOf('?')
  return at >= 0 && new URLSearchParams(requestURI.slice(at)).has('dryRun')
}
