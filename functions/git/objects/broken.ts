import { Failure, type FailureOptions } from '../../domain/failure.ts'

/** Bytes of a server that are no valid pack; a later answer may be whole. `what` completes the sentence. */
export function brokenPack(what: string, options: FailureOptions = {}): Failure {
  return new Failure('ProviderUnavailable', `The server sent a pack that cannot be read: ${what}.`, options)
}

/** An object whose content breaks the rules of Git: nothing can be built on it. `what` completes the sentence. */
export function brokenObject(what: string): Failure {
  return new Failure('NotSupported', `The repository has a broken object at the tip of the branch: ${what}.`)
}

/** A pack beyond a limit of this room; the git binary may still be able to read it. */
export function packTooLarge(what: string): Failure {
  return new Failure('NotSupported', `The server sent a pack that is too large to be read: ${what}.`)
}
