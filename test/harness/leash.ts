import { spawn, type ChildProcess } from 'node:child_process'
import { openSync } from 'node:fs'

/** A server program that ends with this process, however that ends. */
export interface Leashed {
  /** Kills it and waits until it is gone. With SIGTERM: asks it to end first, and waits for that. */
  stop(signal?: 'SIGKILL' | 'SIGTERM'): Promise<void>
  readonly gone: Promise<unknown>
}

// The second job reads a pipe of ours and kills the server when it closes: at our end, even by SIGKILL. Signals go to the
// whole group at a terminal and by timeout(1): the leash has to outlive them. So USR1 is how the server is asked to end,
// and wait returns early for it.
const SCRIPT =
  'trap "" INT TERM HUP; exec 3<&0; "$@" </dev/null 3<&- & pid=$!; trap "kill -TERM $pid" USR1; ' +
  '{ cat <&3 >/dev/null; kill -9 $pid; } 2>/dev/null & wait $pid; while kill -0 $pid 2>/dev/null; do wait $pid; done'

// Go collects garbage later: a third less CPU time for the API server's start, for 100 MB more.
const GOGC = '400'

/** Starts the program with both streams written to the file `log`. */
export function startLeashed(program: string, args: readonly string[], log: string): Leashed {
  const output = openSync(log, 'a', 0o600)
  const child: ChildProcess = spawn('/bin/sh', ['-c', SCRIPT, 'leash', program, ...args], {
    stdio: ['pipe', output, output],
    env: { ...process.env, GOGC },
  })
  const gone = new Promise((resolve) => child.once('exit', resolve).once('error', resolve))
  return {
    gone,
    async stop(signal = 'SIGKILL') {
      if (signal === 'SIGTERM') {
        child.kill('SIGUSR1')
        await gone
      }
      child.stdin?.end()
      await gone
    },
  }
}

// No other child inherits our end of the pipe: read ends when this process does, and not before.
const KEEPER = 'trap "" INT TERM HUP; read -r _; kill -9 "$1"'

/**
 * Ties a process that is running to this one: it is killed once this one is gone, however that ends. A negative number
 * means the group of processes. The returned function unties it: call it when the process has ended.
 */
export function leash(pid: number): () => void {
  const keeper = spawn('/bin/sh', ['-c', KEEPER, 'leash', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  keeper.unref()
  return () => void keeper.kill('SIGKILL')
}
