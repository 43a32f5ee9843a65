import { spawn, type ChildProcess } from 'node:child_process'
import { openSync } from 'node:fs'

/** A server program that goes when this process goes, however that ends. */
export interface Leashed {
  /** Ends it at once and waits until it is gone. */
  stop(): Promise<void>
  readonly gone: Promise<unknown>
}

// The second job reads a pipe of ours: it ends with us, even by SIGKILL, and takes the server along. Signals go to the
// whole group at a terminal and by timeout(1): the leash has to outlive them.
const SCRIPT =
  'trap "" INT TERM HUP; exec 3<&0; "$@" </dev/null 3<&- & pid=$!; { cat <&3 >/dev/null; kill -9 $pid; } 2>/dev/null & wait $pid'

/** Starts the program with both streams written to the file `log`. */
export function startLeashed(program: string, args: readonly string[], log: string): Leashed {
  const output = openSync(log, 'a', 0o600)
  const child: ChildProcess = spawn('/bin/sh', ['-c', SCRIPT, 'leash', program, ...args], {
    stdio: ['pipe', output, output],
  })
  const gone = new Promise((resolve) => child.once('exit', resolve).once('error', resolve))
  return {
    gone,
    async stop() {
      child.stdin?.end()
      await gone
    },
  }
}
