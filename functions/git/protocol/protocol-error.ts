/**
 * Why an answer of a Git server is not what was asked for:
 * `TRUNCATED`: it ends too early, so the connection or the server's program broke off;
 * `REMOTE`: the server reports an error, in its own words;
 * `TOO_MANY`: it has more and shorter packets than servers send;
 * `UNEXPECTED`: everything else, such as a server that does not know the command.
 */
export type ProtocolErrorCode = 'TRUNCATED' | 'REMOTE' | 'TOO_MANY' | 'UNEXPECTED'

/**
 * What the readers of this room throw. The caller knows the repository, and turns it into a Failure or asks in another
 * way.
 */
export interface ProtocolError extends Error {
  readonly code: ProtocolErrorCode
}

/** `words`: for REMOTE the server's own, unchanged; else what was found, for the log. */
export function protocolError(code: ProtocolErrorCode, words: string): ProtocolError {
  return Object.assign(new Error(words), { code })
}

/** Whether a reader of this room threw it, with this code. */
export function isProtocolError(error: unknown, code: ProtocolErrorCode): error is ProtocolError {
  return error instanceof Error && 'code' in error && error.code === code
}
