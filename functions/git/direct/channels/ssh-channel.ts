import type { RepositoryAddress } from '../../../domain/repository/address.ts'
import { Failure } from '../../../domain/failure.ts'
import { failureOf } from '../../output/classify.ts'
import { BROKEN_OFF, type ErrorContext } from '../../output/error-meaning.ts'
import { movedFailure, readMoved } from '../../output/moved.ts'
import type { BodyBounds } from '../../../http/bounded-body.ts'
import type { Transferred } from '../../../http/connection.ts'
import { stopIfAborted } from '../../process/launcher.ts'
import { readCapabilities, requireFetches, type Capabilities } from '../../protocol/capabilities.ts'
import { isProtocolError } from '../../protocol/protocol-error.ts'
import { pushCommand, readAdvertisedRef, type RefUpdate } from '../../protocol/receive-pack.ts'
import { shortRefs } from '../../protocol/short-refs.ts'
import { shortReport } from '../../protocol/short-report.ts'
import type { ReconnectingSSH } from '../../ssh/reconnect.ts'
import { commandFor, type Service as GitProgram } from '../../ssh/request.ts'
import type { SSHProgram } from '../../ssh/session.ts'
import { explainSSH, withoutRemote } from '../../ssh/ssh-errors.ts'
import { readServerReport } from '../../ssh/tunnel.ts'
import { REPORT_BYTES, tooLong, turnToRead, type Channel, type Delivery, type Question } from './channel.ts'
import { converse, type Conversation, type Heard } from './conversation.ts'

/** What a channel over SSH is made of. */
export interface SSHParts {
  readonly ssh: ReconnectingSSH
  readonly address: RepositoryAddress
  readonly context: ErrorContext
  /** Takes bytes of the memory that all sessions share. */
  readonly take: BodyBounds['take']
  /** As in the share of the namespace. */
  readonly allowLong: (bytes: number) => boolean
  readonly signal: AbortSignal
  readonly namespace: string
  readonly transferred?: ((bytes: Transferred) => void) | undefined
}

/** What is kept of the list of all refs, with which receive-pack begins. */
const REFS_BYTES = 4 * 1024 * 1024
/** What git prints where its connection ends, before the first answer and later: ssh-errors.ts reads it. */
const CLOSED = 'fatal: Could not read from remote repository.'
const HUNG_UP = 'fatal: the remote end hung up unexpectedly'

interface Running {
  readonly name: GitProgram
  readonly program: SSHProgram
  readonly talk: Conversation
}

/** The programs of the server, each started when it is first needed, on one connection. */
export function openSSHChannel(parts: SSHParts): Channel {
  const { ssh, address, context, take, allowLong, signal, namespace, transferred } = parts
  let uploadPack: Running | undefined
  let capabilities: Capabilities = { unborn: false, lacking: [] }

  /** Starts a program, and reads what it says of itself. */
  async function start<T>(
    name: GitProgram,
    { protocol, refs }: { readonly protocol?: string; readonly refs: readonly string[] },
    read: (advertisement: Buffer) => T,
  ): Promise<{ readonly running: Running; readonly said: T }> {
    const program = await ssh.exec(commandFor(name, address), protocol)
    const running = { name, program, talk: converse(program.stream, transferred) }
    const heard = await hear(running, REFS_BYTES, shortRefs(refs, allowLong))
    try {
      if (heard.isCut) throw await failureFor(running, CLOSED)
      stopIfMoved(program)
      await turnToRead({ namespace }, heard.answer)
      return { running, said: read(heard.answer) }
    } catch (error) {
      running.talk.end()
      throw error
    } finally {
      heard.release()
    }
  }

  async function hear({ talk }: Running, most: number, shorten?: Question['shorten']): Promise<Heard> {
    const timer = setTimeout(() => talk.end(), context.deadlineSeconds * 1000).unref()
    const heard = await talk.hear({ most, take, shorten }).finally(() => clearTimeout(timer))
    if (heard !== undefined) return heard
    throw tooLong({ most })
  }

  /** A message to every user comes before the answer. */
  function stopIfMoved(program: SSHProgram): void {
    const moved = readMoved(withoutRemote(program.end().words), context)
    if (moved !== undefined) throw movedFailure(moved, context, 'reading')
  }

  async function failureFor({ name, program }: Running, stderr: string): Promise<Failure> {
    const report = await readServerReport({ ssh, address, program })
    const doing = name === 'git-upload-pack' ? 'reading' : 'push'
    stopIfAborted(signal)
    const ended = { exitCode: 128, stdout: '', stderr, seconds: 0 }
    const meaning = explainSSH(ended, { ...report, doing, undelivered: stderr === CLOSED }, context)
    return meaning instanceof Failure ? meaning : failureOf(BROKEN_OFF, context)
  }

  async function startPush(
    ref: string,
  ): Promise<{ readonly running: Running; readonly said: string | undefined } | Failure> {
    try {
      return await start('git-receive-pack', { refs: [ref] }, (list) => readAdvertisedRef(list, ref))
    } catch (error) {
      stopIfAborted(signal)
      if (error instanceof Failure) return error
      throw error
    }
  }

  return {
    async ask({ command, most, about, shorten }, read) {
      if (about === 'refs' || uploadPack?.talk.isOpen() !== true) {
        uploadPack?.talk.end()
        const started = await start('git-upload-pack', { protocol: 'version=2', refs: [] }, readCapabilities)
        uploadPack = started.running
        capabilities = started.said
      }
      const running = uploadPack
      // A repository without a commit needs none.
      if (about === 'objects') requireFetches(capabilities)
      await running.talk.say([command])
      const heard = await hear(running, most, shorten)
      try {
        stopIfMoved(running.program)
        return await read(heard.answer)
      } catch (error) {
        // An error of the server is in its answer; else its program says why it has ended.
        if (heard.isCut && !(error instanceof Failure) && !isProtocolError(error, 'REMOTE'))
          throw await failureFor(running, HUNG_UP)
        throw error
      } finally {
        heard.release()
      }
    },
    tellsUnborn: () => Promise.resolve(capabilities.unborn),
    async push(update, pack, mayBegin) {
      stopIfAborted(signal)
      const started = await startPush(update.ref)
      if (started instanceof Failure) return { kind: 'refused', failure: started, each: false }
      const { running, said } = started
      try {
        stopIfAborted(signal)
        const isStale = said !== update.from || !mayBegin()
        return isStale ? { kind: 'stale' } : await send(running, update, pack)
      } finally {
        running.talk.end()
      }
    },
    async askToPush() {
      const started = await startPush('')
      if (started instanceof Failure) throw started
      started.running.talk.end()
    },
    close() {
      uploadPack?.talk.end()
      ssh.close()
      return Promise.resolve()
    },
  }

  async function send(running: Running, update: RefUpdate, pack: readonly Buffer[]): Promise<Delivery> {
    await running.talk.say([pushCommand(update), ...pack])
    const heard = await hear(running, REPORT_BYTES, shortReport()).catch(() => undefined)
    heard?.release()
    const words = withoutRemote(running.program.end().words)
    if (heard?.isCut === false) return { kind: 'answered', answer: heard.answer, words }
    const moved = readMoved(words, context)
    if (moved !== undefined)
      return { kind: 'refused', failure: movedFailure(moved, context, 'push'), each: false }
    return { kind: 'lost', failure: await failureFor(running, HUNG_UP) }
  }
}
