import { secretsOf } from '../../domain/credentials/login.ts'
import { secretsOfProxy } from '../../domain/network/proxies.ts'
import { keepConnection } from '../../http/kept-connection.ts'
import { rememberTickets } from '../../http/tls-tickets.ts'
import type { Trust } from '../../net/trust.ts'
import type { Engine, Remote } from '../remote.ts'
import { fetchHistory, searchHistory, type History } from './history.ts'
import { openHTTPSChannel } from './https-channel.ts'
import { openMemory, openObjects } from './memory.ts'
import { push } from './push.ts'
import { readTip } from './read-tip.ts'
import { readTree } from './read-tree.ts'
import { rememberTips } from './remembered-tips.ts'
import type { DirectSession } from './session.ts'
import { writeCommits, type WrittenCommits } from './write-commits.ts'

/** The operator's settings for the engine. */
export interface DirectSettings {
  readonly trust: Trust
  /** FETCH_LIMIT. */
  readonly fetchLimitMiB: number
  /** ATTEMPT_DEADLINE: no request takes longer, even if no signal fires. */
  readonly deadlineSeconds: number
}

/**
 * The engine that speaks Git's protocol itself, over HTTPS: no process, no file, three requests for a commit, and one
 * where the tip is remembered. What it cannot do it answers with an Error that is no Failure.
 */
export function openDirectEngine(settings: DirectSettings): Engine {
  const { trust, fetchLimitMiB, deadlineSeconds } = settings
  const memory = openMemory()
  const tickets = rememberTickets()
  const tipsOf = rememberTips()
  return {
    async open(target) {
      const { address, route, login, signal } = target
      if (login.method !== 'password') throw new Error('it speaks HTTPS alone')
      const secrets = [...secretsOf(login), ...(route.proxy === undefined ? [] : secretsOfProxy(route.proxy))]
      const proxied = route.proxy !== undefined
      const context = { url: address.text, secrets, proxied, deadlineSeconds, fetchLimitMiB }
      const ending = new AbortController()
      const connection = keepConnection({
        destination: address,
        route,
        trust: await trust.context(),
        shownHost: address.text,
        signal: AbortSignal.any([signal, ending.signal]),
        tickets,
      })
      const channel = openHTTPSChannel({ connection, address, login, context, take: memory.take, signal })
      const objects = openObjects(memory)
      const tips = tipsOf(address.text, login.identity)
      const session = { channel, context, signal, objects, take: memory.take, tips }
      return directRemote(session, async () => {
        ending.abort()
        objects.close()
        await channel.close()
      })
    },
    close: () => Promise.resolve(),
  }
}

/** Implements the port: one file of this room for each of its functions. */
function directRemote(session: DirectSession, close: () => Promise<void>): Remote {
  let written: WrittenCommits = { names: [], objects: [] }
  let history: History | undefined
  return {
    url: session.context.url,
    async readTip(wanted) {
      history = undefined
      const tip = await readTip(session, wanted)
      if (tip === 'moved' || wanted.since === undefined || tip.commit === undefined) return tip
      const fetched = await fetchHistory(session, tip.commit, wanted.since)
      if (fetched === 'moved') return fetched
      history = fetched
      return tip
    },
    readTree: (tip, paths) => readTree(session, tip, paths),
    async writeCommits(tip, commits) {
      written = await writeCommits(session, tip.commit, commits)
      return written.names
    },
    push: (tip, head) => push(session, { tip, head }, head === tip.commit ? [] : written.objects),
    async findLanded(tip, sought) {
      const known = history ?? (tip.commit === undefined ? 'moved' : await fetchHistory(session, tip.commit))
      return known === 'moved' ? sought.map(() => undefined) : searchHistory(session, known, sought)
    },
    close,
  }
}
