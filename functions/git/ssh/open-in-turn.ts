import type { SessionTurn } from '../remote.ts'
import type { SSHSession } from './session.ts'

/** How long others wait for a session whose log-in has not begun, in milliseconds: it may wait for a thread for seconds. */
const WAITING_MS = 250

/**
 * Opens a session in a turn of the branch. Where its log-in does not begin in a moment, others have their turns, and the session
 * waits for another one once it is open. `open` is handed what to call when the log-in begins. Rejects as `open` does, or if the
 * signal fires.
 */
export async function openInTurn(
  open: (logsIn: () => void) => Promise<SSHSession>,
  turn: SessionTurn | undefined,
  signal: AbortSignal,
): Promise<SSHSession> {
  const seen = { isLate: false }
  const timer = setTimeout(() => {
    seen.isLate = true
    turn?.end()
  }, WAITING_MS)
  const logsIn = (): void => clearTimeout(timer)
  const session = await open(logsIn).finally(logsIn)
  try {
    if (seen.isLate) await turn?.again(signal)
    return session
  } catch (error) {
    session.close()
    throw error
  }
}
