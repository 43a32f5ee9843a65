import type { Hint } from './hint.ts'

/** The type of the events of a PingSource: https://knative.dev/docs/eventing/sources/ping-source/ */
export const PING_TYPE = 'dev.knative.sources.ping'

/** Reads an event of a PingSource, whatever its data: it asks for a sweep. */
export function readPing(): readonly Hint[] {
  return [{ about: 'everything' }]
}
