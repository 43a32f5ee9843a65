import type { Socket } from 'node:net'

/** A connection that can be paused besides what others want of it. */
export interface HeldSocket {
  /** Nothing is read of it until it is let go, whoever resumes it meanwhile. */
  readonly hold: () => void
  /** It goes on, unless somebody else has paused it. */
  readonly letGo: () => void
  /** Whether somebody else has paused it: Node, which waits for answers to be taken, or for a body to be read. */
  readonly isPaused: () => boolean
}

/** Tells our pauses of a connection from those of Node, which gives the parser of a connection that it has paused nothing. */
export function holdSocket(socket: Socket): HeldSocket {
  const pause = socket.pause.bind(socket)
  const resume = socket.resume.bind(socket)
  let isPaused = socket.isPaused()
  let isHeld = false
  Object.assign(socket, {
    pause() {
      isPaused = true
      return pause()
    },
    resume() {
      isPaused = false
      return isHeld ? socket : resume()
    },
  })
  return {
    hold() {
      isHeld = true
      pause()
    },
    letGo() {
      if (isHeld && !isPaused) resume()
      isHeld = false
    },
    isPaused: () => isPaused,
  }
}
