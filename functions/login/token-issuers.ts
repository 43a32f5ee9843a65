import { PERMISSIONS } from '../domain/credentials/app-login.ts'
import { Failure } from '../domain/failure.ts'
import { requireAPI } from '../domain/repository/target.ts'
import type { Meter } from '../domain/telemetry/meter.ts'
import { openHTTP } from '../http/http.ts'
import type { HTTPSettings } from '../http/http.ts'
import { measureCalls } from '../http/measured-calls.ts'
import { callInShare, inShareOf, shareOfCalls } from '../http/share.ts'
import { openKeyedTurns } from '../domain/sharing/keyed-turns.ts'
import { CALLS, countWithCredit } from '../domain/sharing/taken-time.ts'
import type { AskForToken } from '../providers/ask-for-token.ts'
import type { IssueToken } from './app-tokens.ts'
import type { KnownLimit } from './limits/counted-lately.ts'
import type { RequestShares } from './limits/request-shares.ts'

/** What asks each host that has Apps for a token, by its row in the table of hosts. The bundler needs the literal paths. */
export const ISSUERS: Readonly<Record<string, () => Promise<{ readonly askForToken: AskForToken }>>> = {
  github: () => import('../providers/github/installation-token.ts'),
}

/** Most requests for tokens of the same App at once: GitHub recommends serial requests. And one of a namespace that has none. */
const ASKED_PER_APP = 2

/** An installation and a token have some 10 KB each. */
const LARGEST_ANSWER = 256 * 1024

/**
 * GitHub's points ("Rate limits for the REST API"): 900 a minute, of which a token of a repository takes six. Whoever may not push
 * with it has another one issued for each attempt, and beyond the limit nobody gets one with the App.
 */
const POINTS: KnownLimit = { most: 900, within: 60_000, changeCounts: 5 }

/** What the issuers use. */
export interface IssuerParts {
  readonly now: () => Date
  readonly meter: Meter
  /** The shares of the namespaces in what the operator's App may ask for. */
  readonly shares: Pick<RequestShares, 'share'>
}

/** Asks the APIs of hosts for tokens, and measures the calls. Loads what is needed with the first one. */
export function openIssuers(settings: HTTPSettings, { now, meter, shares }: IssuerParts): IssueToken {
  const terms = { spare: true, openTaken: () => countWithCredit(CALLS) }
  const inTurn = openKeyedTurns(ASKED_PER_APP, () => performance.now(), terms)
  return async function issueToken({ app, target, kind, namespace, signal }) {
    const { host, baseURL, repository } = requireAPI(target)
    const load = ISSUERS[host.name]
    if (load === undefined) {
      const message = `${app.shown} cannot log in to a host of the provider ${host.name}; name a Secret with a token in spec.credentials.`
      throw new Failure('NotSupported', message)
    }
    const { askForToken } = await load()
    const called = measureCalls(host.name, meter)
    const permissions = PERMISSIONS[kind]
    const place = { baseURL, repository, shown: target.address.text, permissions }
    const key = `${baseURL} ${app.id} ${app.keyDigest}`
    const late = (cause: unknown): Failure => outOfTime(place.shown, cause)
    return inTurn({ key, owner: namespace, signal, late }, (turn) => {
      const { ofOperator } = app
      const terms = { namespace, signal, ofOperator, turn }
      const share = shareOfCalls(settings, terms)
      const counted = inShareOf(settings, terms)
      const sharer = { shared: key, owner: namespace, known: POINTS }
      return openHTTP({ ...counted, called, largestAnswer: LARGEST_ANSWER })(baseURL, signal, (fetch) => {
        const calls = callInShare(fetch, share, counted)
        const shared = ofOperator === true ? shares.share(calls, sharer) : calls
        return askForToken({ ...place, share, fetch: shared, now: now() }, app)
      })
    })
  }
}

function outOfTime(shown: string, cause: unknown): Failure {
  const message = `The attempt ran out of time before a token for ${shown} could be asked for; Commitlet retries automatically.`
  return new Failure('Timeout', message, { cause })
}
