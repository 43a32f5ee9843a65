import type { Failure } from '../../domain/failure.ts'

/**
 * The two programs of a Git server at one repository, over whatever transport: whole messages go in and come out. An
 * error that is no Failure means that the server cannot be used in this way.
 */
export interface Channel {
  /**
   * Sends a command of protocol version 2 to git-upload-pack and calls `read` with the whole answer.
   * @throws Failure for an error of the host, the login or the network; an Error where the answer has more than `most`
   *   bytes, or is not one of git-upload-pack
   */
  ask<T>(command: Buffer, most: number, read: (answer: Buffer) => T | Promise<T>): Promise<T>
  /**
   * Sends an update and its pack to git-receive-pack. It is sent once, and not at all after the session's signal has
   * fired; when that fires meanwhile, the request is broken off.
   * @throws Failure Timeout
   */
  push(request: readonly Uint8Array[]): Promise<Delivery>
  close(): Promise<void>
}

/** What became of a push. */
export type Delivery =
  | { readonly kind: 'answered'; readonly answer: Buffer }
  /** The server has not carried it out. */
  | { readonly kind: 'refused'; readonly failure: Failure }
  /** There is no usable answer: it may have been carried out. */
  | { readonly kind: 'lost'; readonly failure: Failure }
