import type { MessagePort } from 'node:worker_threads'
import type { RepositoryAddress } from '../../domain/repository/address.ts'
import type { KeyLogin } from '../../domain/credentials/login.ts'
import type { Failure } from '../../domain/failure.ts'

/** The host to connect to, and the login. */
export interface SSHTarget {
  readonly address: RepositoryAddress
  /** Checked IP addresses, to try one after the other. */
  readonly addresses: readonly string[]
  readonly login: Pick<KeyLogin, 'privateKey' | 'hostKeys'>
  /** Time limit for handshake and login in milliseconds; default 15 s. */
  readonly readyMs?: number
}

/** A message to the thread. `id` names a session or, with `exec`, the program that is started. */
export type ToWorker =
  /** The first message: the thread counts the first element up as long as its event loop turns. */
  | { readonly kind: 'begin'; readonly pulse: Int32Array }
  | { readonly kind: 'open'; readonly id: number; readonly target: SSHTarget }
  | {
      readonly kind: 'exec'
      readonly id: number
      readonly session: number
      readonly command: string
      /** Value for GIT_PROTOCOL. */
      readonly protocol: string | undefined
      /** Carries the program's standard input and output, as port-stream.ts has it. */
      readonly port: MessagePort
    }
  /** The answer to `took`: more may come. */
  | { readonly kind: 'goOn'; readonly id: number }
  | { readonly kind: 'close'; readonly id: number }

/** Told when there is a connection to a server, and again with what it says that it is (RFC 4253, section 4.2). */
export type OnReached = (software?: string) => void

/** A message of the thread about a session or a program. */
export type FromWorker =
  /** The session has reached a server, or was told its software. */
  | { readonly kind: 'reached'; readonly id: number; readonly software: string | undefined }
  /** The session is open: on a connection to this IP address. */
  | { readonly kind: 'opened'; readonly id: number; readonly address: string }
  /** The program runs. */
  | { readonly kind: 'started'; readonly id: number }
  /** What the messages of the session's connection have cost since the last one, besides data (traffic-guard.ts). */
  | { readonly kind: 'took'; readonly id: number; readonly cost: number }
  /** What the program has written to its standard error since the last one, as far as it is kept. */
  | { readonly kind: 'said'; readonly id: number; readonly more: string }
  /** The program and its channel have ended. */
  | { readonly kind: 'ended'; readonly id: number; readonly end: ProgramEnd }
  /** The session could not be opened or was lost, or the program could not be started. */
  | {
      readonly kind: 'failed'
      readonly id: number
      readonly failure: PlainFailure
      /** The server broke a limit: the thread is to be ended, unless the session was closed meanwhile. */
      readonly hostile: boolean
    }

/** A Failure on its way between threads. */
export type PlainFailure = Pick<Failure, 'reason' | 'message'>

/** How a program on the server ended. */
export interface ProgramEnd {
  /** Beginning of what it wrote to its standard error. */
  readonly words: string
  /** It wrote more than 16 MiB there. */
  readonly tooMuch: boolean
  /** Undefined: it has not ended, or the server did not say how. */
  readonly exitStatus: number | undefined
}
