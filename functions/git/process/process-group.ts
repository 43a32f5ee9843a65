/** The processes of a launcher: once its `timeout` runs they are a group, which has the launcher's number (setpgid(2)). */
export interface ProcessGroup {
  /** Takes what comes of standard error, and returns it without the number. */
  readonly read: (chunk: Buffer) => Buffer
  /** Kills what is left of them; does nothing while the number is not known, or there is no group. */
  readonly kill: () => void
}

const LF = 0x0a

/** Reads the launcher's number, which is the first line that it writes. */
export function readGroup(): ProcessGroup {
  let line = ''
  let isRead = false

  return {
    read(chunk) {
      if (isRead) return chunk
      const end = chunk.indexOf(LF)
      isRead = end >= 0
      line += chunk.toString('latin1', 0, isRead ? end : chunk.length)
      return chunk.subarray(isRead ? end : chunk.length)
    },
    kill() {
      if (!isRead || !/^[1-9]\d*$/.test(line)) return
      try {
        process.kill(-Number(line), 'SIGKILL')
      } catch {
        // None is left, or there is no group yet.
      }
    },
  }
}
