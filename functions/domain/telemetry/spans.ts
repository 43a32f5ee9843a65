/** What a span is to those around it, in the terms of OpenTelemetry. */
export type SpanKind = 'internal' | 'server' | 'client' | 'producer' | 'consumer'

interface SpanType {
  readonly kind: SpanKind
  /** One sentence for docs/monitoring.md. */
  readonly help: string
}

/** All spans by their names; no part of a name comes from outside. */
export const SPANS = {
  admission: { kind: 'server', help: 'A review of the API server, from the parsed review to the decision.' },
  'send event': {
    kind: 'producer',
    help: 'The event of an admitted or swept resource, from its first request to the answer of the sink, retries included.',
  },
  attempt: { kind: 'consumer', help: 'One attempt, from the arrival of its event to its end.' },
  'read resource': { kind: 'client', help: 'The resource is read, until it is stored.' },
  wait: { kind: 'internal', help: 'The attempt waits for its turn.' },
  claim: { kind: 'internal', help: 'The resource is claimed for this attempt.' },
  'review access': {
    kind: 'client',
    help: 'Access is reviewed, or was a moment ago.',
  },
  discover: { kind: 'client', help: 'The plural and the scope of a kind are looked up, or are remembered.' },
  'read object': { kind: 'client', help: 'The object that the resource refers to is read.' },
  'read Secret': { kind: 'client', help: 'A Secret is read.' },
  'write status': { kind: 'client', help: 'The claim or the result is written.' },
  push: {
    kind: 'internal',
    help: 'A change, from the moment when it is ready until it has landed; it may wait for others.',
  },
  search: { kind: 'internal', help: 'The history is searched for what an earlier attempt pushed.' },
  'git session': {
    kind: 'internal',
    help: 'One session with a Git remote, for the changes of one push. It is in the trace of the first of them, and linked with the others.',
  },
  'git open': { kind: 'client', help: 'The session is opened.' },
  'git tip': { kind: 'client', help: 'The tip of the branch is read, or is remembered.' },
  'git tree': { kind: 'client', help: 'The tree of the tip is read.' },
  'git files': { kind: 'client', help: 'The files that are edited are read.' },
  'git write': { kind: 'internal', help: 'The commits are built.' },
  'git push': { kind: 'client', help: 'The commits are sent, until the remote has answered.' },
  'git search': { kind: 'client', help: 'The history of the tip is searched.' },
  'pull request': { kind: 'internal', help: 'A session with the API of a host, with the wait for it.' },
  'call API': { kind: 'client', help: 'One call to the API of a host, until the whole answer was read.' },
} as const satisfies Readonly<Record<string, SpanType>>

export type SpanName = keyof typeof SPANS

/**
 * What spans say besides their times, with the meaning for docs/monitoring.md. No message, address, branch, path or user:
 * a value is one of a few, a number, or the name of a resource.
 */
export const ATTRIBUTES = {
  'commitlet.kind': 'the kind of the resource',
  'k8s.namespace.name': 'its namespace',
  'commitlet.name': 'its name',
  'commitlet.attempt': 'which attempt it is since the last change or request',
  'commitlet.reason': 'how the attempt ended, or why admission denied',
  'commitlet.phase': 'the phase that was written, or `overtaken`',
  'commitlet.provider': 'the software of the host, as in the metrics',
  'commitlet.engine': 'the engine, as in the metrics',
  'commitlet.webhook': '`mutate` or `validate`',
  'commitlet.outcome': 'how a decision or a step ended, as in the metrics',
  'commitlet.changes': 'how many changes a session with a Git remote has',
  'http.request.method': 'the method of a call',
  'http.response.status_code': 'its status; absent if there was no answer',
  'error.type': 'the reason of what failed',
} as const satisfies Readonly<Record<string, string>>

export type Attributes = Readonly<Partial<Record<keyof typeof ATTRIBUTES, string | number>>>

/** The attributes that name a resource. */
export function resourceAttributes(of: {
  readonly kind: string
  readonly namespace: string
  readonly name: string
}): Attributes {
  return { 'commitlet.kind': of.kind, 'k8s.namespace.name': of.namespace, 'commitlet.name': of.name }
}
