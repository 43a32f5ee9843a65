import type { Failure } from '../../../domain/failure.ts'
import { takeTurn } from '../../objects/pace.ts'
import { failureOf } from '../../output/classify.ts'
import { FETCH_LIMIT_REACHED, type ErrorContext } from '../../output/error-meaning.ts'
import type { RefUpdate } from '../../protocol/receive-pack.ts'

/** More than any report of receive-pack with what is kept of the output of its hooks (short-report.ts). */
export const REPORT_BYTES = 1024 * 1024

/**
 * The two programs of a Git server at one repository, over whatever transport: whole messages go in and come out. An
 * error that is no Failure means that the server cannot be used in this way.
 */
export interface Channel {
  /**
   * Sends a command of protocol version 2 to git-upload-pack and calls `read` with the whole answer.
   * @throws Failure for an error of the host, the login or the network; an Error where the answer is too large, or is
   *   not one of git-upload-pack
   */
  ask<T>(question: Question, read: (answer: Buffer) => T | Promise<T>): Promise<T>
  /**
   * Whether git-upload-pack tells to which branch a HEAD without a commit points. Asked after a question about refs.
   * @throws Failure for an error of the host, the login or the network
   */
  tellsUnborn(): Promise<boolean>
  /**
   * Sends an update and the bytes of its pack to git-receive-pack. It is sent once, and not at all after the session's signal has
   * fired; when that fires meanwhile, the exchange is broken off. `mayBegin` is asked right before the first byte of the
   * update: where it answers false, nothing is sent.
   * @throws Failure Timeout
   */
  push(update: RefUpdate, pack: readonly Buffer[], mayBegin: () => boolean): Promise<Delivery>
  /**
   * Asks git-receive-pack for its list of refs, which only those see who may push, and sends it nothing.
   * @throws Failure for an error of the host, the login or the network; an Error where it is not one of git-receive-pack
   */
  askToPush(): Promise<void>
  close(): Promise<void>
}

/** A command for git-upload-pack. */
export interface Question {
  readonly command: Buffer
  /** Maximum bytes of what is kept of the answer. */
  readonly most: number
  /** What is kept of each piece of the answer, in order; default: all of it. */
  readonly shorten?: ((piece: Uint8Array) => Buffer) | undefined
  /** A running git-upload-pack remembers refs that it has listed: it is asked for objects only. */
  readonly about: 'refs' | 'objects'
}

/**
 * The same channel, whose answers with objects have FETCH_LIMIT together. Beyond it `ask` throws the Failure for that limit.
 */
export function withinFetchLimit(channel: Channel, context: ErrorContext): Channel {
  let left = context.fetchLimitMiB * 1024 * 1024
  return {
    ...channel,
    async ask(question, read) {
      if (question.about !== 'objects') return channel.ask(question, read)
      const most = Math.min(question.most, left)
      const isLast = most < question.most
      try {
        return await channel.ask({ ...question, most }, (answer) => {
          left -= answer.length
          return read(answer)
        })
      } catch (error) {
        throw isLast && isTooLong(error) ? failureOf(FETCH_LIMIT_REACHED, context) : error
      }
    },
  }
}

/** A few refs, or an error. */
const SMALL_BYTES = 4096

/**
 * Waits until the answer may be read. A server can end many large ones at the same moment, so each is read in another turn of
 * the event loop, the next one of another namespace.
 */
export async function turnToRead(
  { namespace }: { readonly namespace: string },
  { length }: Buffer,
): Promise<void> {
  if (length > SMALL_BYTES) await takeTurn(namespace)
}

/** The error for an answer of more bytes than are read. */
export function tooLong({ most }: Pick<Question, 'most'>): Error {
  return Object.assign(new Error(`it sends more than ${most} bytes in one answer`), { name: TOO_LONG })
}

const TOO_LONG = 'TooLong'

/** Whether it is one of `tooLong`. */
export function isTooLong(error: unknown): boolean {
  return error instanceof Error && error.name === TOO_LONG
}

/** What became of a push. */
export type Delivery =
  /** `words`: what the server has printed outside of the answer. */
  | { readonly kind: 'answered'; readonly answer: Buffer; readonly words: string }
  /** The ref is not where the update begins, or the push might not begin; nothing was sent. */
  | { readonly kind: 'stale' }
  /** The server has not carried it out, or somewhere else. `each`: because of its content. `said`, `unread`: see Unlanded. */
  | {
      readonly kind: 'refused'
      readonly failure: Failure
      readonly each: boolean
      readonly said?: true
      readonly unread?: true
    }
  /** There is no usable answer: it may have been carried out. */
  | { readonly kind: 'lost'; readonly failure: Failure }
