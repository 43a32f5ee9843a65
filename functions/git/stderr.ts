import { Failure } from '../domain/failure.ts'
import type { Ended } from './launcher.ts'
import { quoteRemote } from '../domain/quote.ts'
import { OUTAGE, ROWS, type Saying, type Scene } from './sayings.ts'
import { readSpeech, type Speech } from './speech.ts'
import { sayingOf } from './statuses.ts'

/** What a git that talked to the remote and did not end with 0 means. */
export type Meaning =
  /** The ref that was asked for is not there. */
  | 'absent'
  /** No commit is newer than the date that was asked for. */
  | 'nothing newer'
  /** Another writer moved the branch meanwhile. */
  | 'race'
  | Failure

/** Reads what git said (facts: git 2.39 with LC_ALL=C). Unlisted: PushRejected where the remote spoke, else Internal. */
export function explain(ended: Ended, scene: Scene): Meaning {
  if (ended.exitCode === undefined) return explainKill(ended, scene)
  const speech = readSpeech(ended)
  if (/couldn't find remote ref/.test(speech.own)) return 'absent'
  if (/error processing shallow info/.test(speech.own)) return 'nothing newer'
  if (/^upload-pack: not our ref/m.test(speech.remote)) return 'race'
  // A new branch, and the default branch moved on: the remote does not show the tip below it any more, so that
  // git wants to send all of it and lacks the blobs.
  if (/^fatal: unable to read [0-9a-f]{40}$/m.test(speech.own)) return 'race'
  return explainStatus(speech, scene) ?? explainOwn(speech, scene) ?? explainRest(ended, speech, scene)
}

/** A refusal in the remote's own words, as far as they may be shown. */
export function rejection(words: string, scene: Scene): Failure {
  const quoted = quoteRemote(words, scene.secrets)
  const said = quoted === '' ? 'without saying why' : `and says ${shown(quoted)}`
  return new Failure(
    'PushRejected',
    `${scene.url} refuses the commit ${said}; use another branch or path, or ask whoever looks after the repository.`,
  )
}

function shown(quoted: string | undefined): string {
  return quoted === undefined ? 'something that cannot be shown' : `"${quoted}"`
}

/** The host's own failure, where its words tell of one. */
export function outage(words: string, scene: Scene): Failure | undefined {
  return OUTAGE.pattern.test(words) ? tell(OUTAGE, scene, undefined) : undefined
}

function explainKill(ended: Ended, { url, deadlineSeconds }: Scene): Failure {
  if (ended.seconds >= deadlineSeconds)
    return new Failure(
      'Timeout',
      `${url} had not answered when the ${deadlineSeconds} seconds of an attempt were over; it is tried again.`,
    )
  return new Failure('Internal', `Git was ended from outside while it talked to ${url}; it is tried again.`)
}

function explainOwn({ own, retryAfterSeconds }: Speech, scene: Scene): Failure | undefined {
  const row = ROWS.find(({ pattern }) => pattern.test(own))
  if (row === undefined) return undefined
  return tell(row, scene, retryAfterSeconds)
}

/** The failure that a saying stands for, about this repository. */
export function tell({ reason, says }: Saying, scene: Scene, retryAfterSeconds?: number): Failure {
  const rest = typeof says === 'string' ? says : says(scene)
  return new Failure(
    reason,
    `${scene.url} ${rest}`,
    retryAfterSeconds === undefined ? {} : { retryAfterSeconds },
  )
}

function explainStatus({ own, retryAfterSeconds }: Speech, scene: Scene): Failure | undefined {
  if (/could not read (Username|Password)|Authentication failed for/.test(own))
    return tell(sayingOf(401), scene, undefined)
  if (/^fatal: repository '.*' not found/m.test(own)) return tell(sayingOf(404), scene, undefined)
  const status = Number(
    /(?:requested URL returned error: |RPC failed; HTTP )(?<status>\d{3})/.exec(own)?.groups?.['status'],
  )
  if (Number.isNaN(status)) return undefined
  // Hosts that slow a client down do not all say 429.
  if (status === 403 && retryAfterSeconds !== undefined) return tell(sayingOf(429), scene, retryAfterSeconds)
  return tell(sayingOf(status), scene, retryAfterSeconds)
}

function explainRest(ended: Ended, speech: Speech, scene: Scene): Failure {
  if (speech.remote !== '') return outage(speech.remote, scene) ?? rejection(speech.remote, scene)
  const cause = new Error(shown(quoteRemote(speech.own, scene.secrets)))
  if (ended.exitCode === 127)
    return new Failure(
      'Internal',
      'The programs sh, setpriv, timeout and git are not all installed; the operator has to mend the image.',
      { cause },
    )
  return new Failure(
    'Internal',
    `Git ended with ${ended.exitCode} at ${scene.url} for a reason that Commitlet does not know; it is tried again.`,
    { cause },
  )
}
