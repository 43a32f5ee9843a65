import type { FileChange } from '../../domain/commit/change.ts'
import type { TextEdit } from '../../domain/edit/edit-text.ts'
import type { Mapping } from '../../domain/manifest/json-node.ts'
import type { RequestedObject } from '../../domain/manifest/manifest.ts'
import type { FileEntry, ObjectReference, ReferenceField } from '../../domain/spec/spec.ts'

/** A reference to an object, and the field of the spec that holds it. */
export interface Place {
  readonly field: ReferenceField
  readonly reference: ObjectReference
}

/** The objects that a resource refers to, as they are now. */
export interface Objects {
  /**
   * Hands the object to `use`, and keeps it no longer. Those who ask at the same time get the same state of it.
   * @throws ReferenceNotFound if the cluster does not serve its kind, and what reading it and `use` throw
   */
  readonly read: <T>(place: Place, use: (object: Mapping, requested: RequestedObject) => T) => Promise<T>
}

/** Does work that holds the thread, within the share of the namespace. See functions/attempt/turns/thread/thread-share.ts. */
export type Share = <T>(work: () => T) => Promise<T>

/** Sets fields of a file; throws a Failure. See functions/edits. */
export type SetFields = (before: Uint8Array, edit: TextEdit) => Promise<Uint8Array>

/** What the files of a resource may take in memory together, in bytes. */
export interface Room {
  /** Throws NotSupported above the limit. */
  readonly take: (bytes: number) => void
  /** Throws NotSupported once that has happened. */
  readonly check: () => void
}

/** What sources make their files with. */
export interface Means {
  readonly objects: Objects
  readonly room: Room
  readonly setFields: SetFields
}

/** One entry of `spec.files`, or what `spec.resourceRef` is short for. */
export interface Entry {
  /** Where it is in the spec. */
  readonly field: `spec${string}`
  readonly file: FileEntry
}

/**
 * Makes what the commit does to the file of an entry: its bytes, or an edit that waits for what the branch holds. Asks
 * for all of its objects at once. Undefined: the entry is of another source.
 * @throws Failure
 */
export type Source = (entry: Entry, means: Means) => Promise<FileChange> | undefined
