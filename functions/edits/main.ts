import { parentPort, type MessagePort } from 'node:worker_threads'
import { editText, type KeptReading, type TextEdit } from '../domain/edit/edit-text.ts'
import { asFailure, type Failure } from '../domain/failure.ts'

/** An edit that the thread is to make. */
export interface EditRequest {
  readonly before: Uint8Array
  readonly edit: TextEdit
}

/** What it has made of it. */
export type EditAnswer =
  | { readonly after: Uint8Array }
  | { readonly failure: Pick<Failure, 'reason' | 'message' | 'retry'>; readonly cause?: unknown }

/** The thread of edits: it makes one after the other, and keeps nothing that it cannot read again, so that it can be ended at any time. */
function main(port: MessagePort): void {
  const kept: KeptReading = {}
  port.on('message', ({ before, edit }: EditRequest) => port.postMessage(answerOf(before, edit, kept)))
}

function answerOf(before: Uint8Array, edit: TextEdit, kept: KeptReading): EditAnswer {
  try {
    return { after: editText(before, edit, kept) }
  } catch (error) {
    const { reason, message, retry, cause } = asFailure(error)
    return { failure: { reason, message, retry }, ...(cause === undefined ? {} : { cause }) }
  }
}

if (parentPort !== null) main(parentPort)
