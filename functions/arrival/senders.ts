import type { KeyObject } from 'node:crypto'
import { SENDER_SIGNATURE, isFromWebhook } from '../domain/event/sender-signature.ts'
import { knowSources } from './source-key.ts'
import type { Posted } from '../domain/event/hint.ts'
import type { Sender } from '../event-places.ts'

type Headers = Readonly<Record<string, unknown>>

/**
 * Knows whom an event is from. A signature gives priority once, and for the resource alone that its event is about; the key of a
 * source is for all of its events.
 */
export interface Senders {
  /** By the head of a request, before its body is read. */
  readonly of: (headers: Headers) => Sender
  /** By what was posted as well. From now on the same event is not the webhook's. */
  readonly claim: (headers: Headers, posted: Posted) => Sender
  /** Nothing came of it, so that the webhook will repeat it. */
  readonly release: (headers: Headers) => void
}

/** Signatures that are remembered: as many as events wait in the webhook, twice. */
const MOST_REMEMBERED = 20_000

/**
 * By the key of the stamps, and those that it has replaced: while a key is rotated, the webhook still signs with the old one, and
 * sources keep theirs until the operator gives them another. Without a key nobody is known. Who has seen an event of the webhook, such as a subscriber of the Broker, can send it again, and
 * with another body: that has no priority, and an event that is older than 20 minutes has none, either.
 */
export function knowSenders(stampKeys: readonly KeyObject[], now: () => Date = () => new Date()): Senders {
  const claimed = new Set<string>()
  const isFromSource = knowSources(stampKeys)

  function of(headers: Headers): Sender {
    const isKnown = stampKeys.some((key) => isFromWebhook(headers, key, now()))
    if (isKnown && !claimed.has(signatureOf(headers))) return 'webhook'
    return isFromSource(headers) ? 'source' : 'anybody'
  }

  return {
    of,
    claim(headers, posted) {
      const sender = of(headers)
      if (sender !== 'webhook') return sender
      const [oldest] = claimed
      if (oldest !== undefined && claimed.size >= MOST_REMEMBERED) claimed.delete(oldest)
      claimed.add(signatureOf(headers))
      return isAbout(posted, headers['ce-subject']) ? sender : of(headers)
    },
    release: (headers) => void claimed.delete(signatureOf(headers)),
  }
}

function signatureOf(headers: Headers): string {
  return String(headers[`ce-${SENDER_SIGNATURE}`])
}

/** The signature covers the subject, and not the body. */
function isAbout({ form, hints }: Posted, subject: unknown): boolean {
  const [hint, ...others] = hints
  if (form !== 'event' || hint?.about !== 'resource' || others.length > 0) return false
  return `${hint.ref.namespace}/${hint.ref.name}` === subject
}
