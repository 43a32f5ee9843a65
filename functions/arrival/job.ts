import type { ObjectRef } from '../domain/resource/resource.ts'
import type { EventPlaces, Sender } from '../event-places.ts'
import type { Begin } from './begin-line.ts'
import type { InHand } from './in-hand.ts'

/** The events of one request. */
export interface Job {
  readonly begin: Begin
  readonly beginFound: Begin
  /** Whether one namespace more may be searched now. */
  readonly maySearch: () => boolean
  /** Resolves once all that have begun are handled; false if something could not be written. */
  readonly ended: () => Promise<boolean>
}

/** Whom a request is from, and its address, if that tells senders from each other. */
export interface From {
  readonly sender: Sender
  readonly address: string | undefined
}

/** Opens the job of a request that was admitted. */
export function openJob(inHand: InHand, places: EventPlaces, { sender, address }: From): Job {
  const running: Promise<boolean>[] = []
  // The first one was counted when its request was admitted.
  let isCounted = true

  function begin(ref: ObjectRef, by: Sender, takePlace: EventPlaces['takeFurther']): boolean {
    const leave = takePlace(by, ref.namespace, address)
    if (leave === undefined) return false
    running.push(inHand.handle(ref, by, leave))
    return true
  }

  return {
    begin(ref) {
      const begun = begin(ref, sender, isCounted ? places.take : places.takeFurther)
      if (begun) isCounted = false
      return begun
    },
    // The API server has named it, not the sender.
    beginFound: (ref) => begin(ref, 'webhook', places.take),
    maySearch() {
      const may = isCounted || places.admitsSearch(sender, address)
      isCounted = false
      return may
    },
    ended: async () => (await Promise.all(running)).every(Boolean),
  }
}
