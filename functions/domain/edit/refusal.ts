import { Failure } from '../failure.ts'

const MEBIBYTE = 1024 * 1024
/** Maximum bytes of a file that is edited, before and after. */
export const EDIT_LIMIT = 2 * MEBIBYTE

/** Makes the Failure of a file that cannot be edited; none of its content is in the message. */
export type Refuse = (complaint: string, reason?: 'NotSupported') => Failure

/**
 * How the failures of this file begin. PathConflict: what is at the path does not allow the change. Others may have
 * written it, and may fix it: both are tried again, slowly.
 */
export function refusalsOf(filePath: string): Refuse {
  return (complaint, reason) =>
    new Failure(reason ?? 'PathConflict', `The file ${filePath} ${complaint}`, { retry: 'slow' })
}

/** Throws NotSupported for a file of more bytes than EDIT_LIMIT. */
export function requireSize(size: number, refuse: Refuse): void {
  if (size > EDIT_LIMIT)
    throw refuse(
      `takes more than ${EDIT_LIMIT / MEBIBYTE} MiB, which is the limit for setting fields; split the file.`,
      'NotSupported',
    )
}

/** The number of the line at this place, counted from 1. */
export function lineAt(text: string, at: number): number {
  let line = 1
  for (let end = text.indexOf('\n'); end >= 0 && end < at; end = text.indexOf('\n', end + 1)) line += 1
  return line
}
