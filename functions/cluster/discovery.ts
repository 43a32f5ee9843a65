import { LRUCache } from 'lru-cache'
import type { ServedKind } from '../domain/gate/access.ts'
import type { ApiServer } from './api-server.ts'
import { elements, member, textMember } from '../domain/json-value.ts'
import { Failure } from '../domain/failure.ts'
import { countParts } from '../domain/network/json-parts.ts'
import { selectedOf } from './calls/answer.ts'
import { takeTurnsOfAttempts } from './calls/attempt-turns.ts'
import type { ApiAnswer } from './calls/exchange.ts'
import { LONGEST_TURN_MS } from './calls/large-reads.ts'
import { REST_CLOCK, type RestClock } from './calls/rest.ts'
import { OF_KINDS } from './calls/selections.ts'
import type { InTurn } from './calls/slow-calls.ts'
import type { CallTurn, Cluster } from './cluster.ts'

export type Discover = Cluster['discover']

/** How long the kinds of a group are remembered. For a kind that is not among them, discovery is called again at once. */
const REMEMBERED_MS = 60_000
/** Names of groups and versions that the API server accepts (DNS-1123 subdomain, DNS-1035 label). */
const GROUP_VERSION =
  /^(?:(?<group>[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?)\/)?(?<version>[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)$/

/** Names of resources, which become part of a path (DNS-1123 label). */
const PLURAL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/** Bytes and parts of an answer: 2,000 kinds and more. The largest groups that are known have 256 KiB. */
const LARGEST_ANSWER = 1024 * 1024
const MOST_PARTS = 50_000

/** Most remembered groups and versions; clusters with many extensions serve a few hundred. */
const MOST_REMEMBERED = 1_024

/** The kinds of a group, and which of all calls that have begun told them. */
interface Told {
  readonly kinds: ReadonlyMap<string, ServedKind>
  readonly call: number
}

/**
 * Finds the plural and the scope of a kind with the discovery API. Calls for one group in flight share one answer, and only
 * the call has a turn, for two seconds at most: who waits for one that has begun keeps nobody waiting, also where the API of the
 * group never answers. Returns undefined for a kind or group that the cluster does not serve. Throws what `selectedOf` throws, and
 * NotSupported for a group with too many kinds. `by`: whose turn a call takes; default: at once.
 */
export function discovery(
  server: ApiServer,
  now: () => number,
  wait: RestClock['wait'] = REST_CLOCK.wait,
): Discover {
  const remembered = new LRUCache<string, Told>({
    max: MOST_REMEMBERED,
    ttl: REMEMBERED_MS,
    ttlResolution: 0,
    perf: { now },
  })
  const reading = new Map<string, Promise<Told>>()
  const ofAttempts = takeTurnsOfAttempts(now)
  let calls = 0

  async function call(apiVersion: string): Promise<Told> {
    const number = (calls += 1)
    const answer = servedKinds(server, apiVersion).then((kinds) => ({ kinds, call: number }))
    reading.set(apiVersion, answer)
    try {
      const told = await answer
      remembered.set(apiVersion, told)
      return told
    } finally {
      reading.delete(apiVersion)
    }
  }

  /** Undefined where an API behind the API server may be what is waited for: the call goes on without its turn. */
  function inTime(told: Promise<Told>): Promise<Told | undefined> {
    return Promise.race([told, wait(LONGEST_TURN_MS).then(() => undefined)])
  }

  /** What the next call tells, or one that others make while it waits for its turn. */
  async function read(apiVersion: string, inTurn: InTurn): Promise<Told> {
    const before = calls
    for (;;) {
      const underWay = reading.get(apiVersion)
      if (underWay !== undefined) return underWay
      const told = await inTurn(async () => {
        const known = remembered.get(apiVersion)
        if (known !== undefined && known.call > before) return known
        return reading.has(apiVersion) ? undefined : inTime(call(apiVersion))
      })
      if (told !== undefined) return told
    }
  }

  return async function discover(apiVersion, kind, by) {
    if (!GROUP_VERSION.test(apiVersion)) return undefined
    const known = remembered.get(apiVersion)?.kinds.get(kind)
    const served = known ?? (await reading.get(apiVersion))?.kinds.get(kind)
    if (served !== undefined) return served
    // What was asked before this call may be older than the kind.
    const { kinds } = await read(apiVersion, turnOf(by))
    return kinds.get(kind)
  }

  function turnOf(by: CallTurn | undefined): InTurn {
    if (by === undefined) return (call) => call()
    return 'inTurn' in by ? by.inTurn : (call) => ofAttempts(by, call)
  }
}

/** Path of a group and version: the core group is under /api, all others under /apis. */
export function groupPath(apiVersion: string): string {
  return apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`
}

/** Path of an object. Names are escaped, so that `../secrets/x` stays one segment of it. */
export function objectPath(
  group: string,
  plural: string,
  name: { namespace?: string | undefined; name: string },
): string {
  const namespace = name.namespace === undefined ? '' : `/namespaces/${encodeURIComponent(name.namespace)}`
  return `${groupPath(group)}${namespace}/${encodeURIComponent(plural)}/${encodeURIComponent(name.name)}`
}

async function servedKinds(server: ApiServer, apiVersion: string): Promise<Told['kinds']> {
  const answer = await answerOf(server, apiVersion)
  if (answer.status === 404) return new Map()
  // An aggregated API may answer with anything.
  if (countParts(answer.text, { parts: MOST_PARTS }) === undefined) throw tooManyKinds(apiVersion)
  const list = selectedOf(answer, `API group ${apiVersion}`, OF_KINDS)
  const kinds = new Map<string, ServedKind>()
  for (const item of elements(member(list, 'resources'))) {
    const [plural, kind, namespaced] = [
      textMember(item, 'name'),
      textMember(item, 'kind'),
      member(item, 'namespaced'),
    ]
    if (plural === undefined || kind === undefined || typeof namespaced !== 'boolean') continue
    // Skip subresources (`pods/status`), invalid names, and kinds of another group (`deployments/scale`).
    if (!PLURAL.test(plural) || textMember(item, 'group') || textMember(item, 'version')) continue
    if (!kinds.has(kind)) kinds.set(kind, { plural, namespaced })
  }
  return kinds
}

function answerOf(server: ApiServer, apiVersion: string): Promise<ApiAnswer> {
  const call = { method: 'GET', path: groupPath(apiVersion), most: LARGEST_ANSWER } as const
  return server(call).catch((error: unknown) => {
    throw error instanceof Failure && error.reason === 'NotSupported'
      ? tooManyKinds(apiVersion, error)
      : error
  })
}

function tooManyKinds(apiVersion: string, cause?: Failure): Failure {
  const message = `The API group ${apiVersion} lists more kinds than the limit of 1 MiB and ${MOST_PARTS.toLocaleString('en-GB')} values; ask the administrator of its API.`
  return new Failure('NotSupported', message, { cause })
}
