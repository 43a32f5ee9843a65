import { secretsOf } from '../../domain/credentials/login.ts'
import { secretsOfProxy } from '../../domain/network/proxies.ts'
import { keepConnection } from '../../http/kept-connection.ts'
import type { Transferred } from '../../http/connection.ts'
import { rememberTickets } from '../../http/tls-tickets.ts'
import type { Trust } from '../../net/trust.ts'
import { startPack } from '../objects/pack-writer.ts'
import type { Engine, Remote, RemoteTarget } from '../remote.ts'
import { fetchHistory, searchHistory, type History } from './history.ts'
import { openReconnectingSSH } from '../ssh/reconnect.ts'
import type { SSHSessions } from '../ssh/sessions.ts'
import { withinFetchLimit, type Channel } from './channels/channel.ts'
import { openHTTPSChannel } from './channels/https-channel.ts'
import { openSSHChannel, type SSHParts } from './channels/ssh-channel.ts'
import { openMemory, openObjects } from './memory.ts'
import { push } from './push.ts'
import { readBlobs } from './read-blobs.ts'
import { readTip } from './read-tip.ts'
import { readTree } from './read-tree.ts'
import { rememberTips } from './remembered-tips.ts'
import type { DirectSession } from './session.ts'
import { rememberWays } from './tree-ways.ts'
import { writeCommits, type WrittenCommits } from './write-commits.ts'

/** The operator's settings for the engine. */
export interface DirectSettings {
  readonly trust: Trust
  /** The sessions at SSH servers, which the caller closes. */
  readonly ssh: SSHSessions
  /** FETCH_LIMIT. */
  readonly fetchLimitMiB: number
  /** ATTEMPT_DEADLINE: no request takes longer, even if no signal fires. */
  readonly deadlineSeconds: number
  /** Told of the bytes of each connection over HTTPS, and of each command and answer over SSH. */
  readonly transferred?: ((bytes: Transferred) => void) | undefined
}

/**
 * The engine that speaks Git's protocol itself, over HTTPS and SSH: no process, no file, three requests for a
 * commit, and one where the tip is remembered. What it cannot do it answers with an Error that is no Failure.
 */
export function openDirectEngine(settings: DirectSettings): Engine {
  const { trust, ssh, fetchLimitMiB, deadlineSeconds, transferred } = settings
  const memory = openMemory()
  const tickets = rememberTickets()
  const tipsOf = rememberTips()
  const wayOf = rememberWays()

  async function openChannel(
    { address, route, login, signal, namespace, turn }: RemoteTarget,
    shared: Pick<SSHParts, 'context' | 'take' | 'allowLong'>,
  ): Promise<Channel> {
    if (address.scheme === 'ssh' && login.method === 'key') {
      const target = { address, addresses: route.addresses ?? [], login, turn }
      const opened = openReconnectingSSH(ssh, target, signal)
      return openSSHChannel({ ...shared, ssh: opened, address, signal, namespace, transferred })
    }
    if (address.scheme === 'ssh' || login.method === 'key')
      throw new Error('the login is not for such an address')
    const connection = keepConnection({
      destination: address,
      route,
      trust: await trust.context(),
      shownHost: address.text,
      signal,
      tickets,
      transferred,
    })
    return openHTTPSChannel({ ...shared, connection, address, login, signal })
  }
  return {
    async open(target) {
      const { address, route, login, signal, namespace } = target
      const secrets = [...secretsOf(login), ...secretsOfProxy(route.proxy)]
      const proxied = route.proxy !== undefined
      const context = { url: address.text, secrets, proxied, deadlineSeconds, fetchLimitMiB }
      const share = memory.shareOf(namespace)
      const { take, allowLong } = share
      const channel = withinFetchLimit(await openChannel(target, { context, take, allowLong }), context)
      const owner = JSON.stringify([address.text, login.identity])
      const objects = openObjects(memory, { owner, namespace, take })
      const tips = tipsOf(address.text, login.identity, namespace)
      const way = wayOf(address.text, login.identity, namespace)
      return directRemote({ channel, context, signal, objects, share, tips, way }, async () => {
        objects.close()
        await channel.close()
      })
    },
    close: () => Promise.resolve(),
  }
}

/** Implements the port: one file of this room for each of its functions. */
function directRemote(session: DirectSession, close: () => Promise<void>): Remote {
  let written: WrittenCommits | undefined
  let history: History | undefined
  return {
    url: session.context.url,
    signal: session.signal,
    async readTip(wanted) {
      history = undefined
      const tip = await readTip(session, wanted)
      if (tip === 'moved' || wanted.since === undefined || tip.commit === undefined) return tip
      const fetched = await fetchHistory(session, tip.commit, wanted.since)
      if (fetched === 'moved') return fetched
      history = fetched
      return tip
    },
    readTree: (tip, paths) => readTree(session, tip, { paths }),
    readBlobs: (tip, oids, most) => readBlobs(session, tip, { oids, most }),
    async writeCommits(tip, commits) {
      written?.release()
      written = undefined
      written = await writeCommits(session, tip.commit, commits)
      return written.names
    },
    async push(tip, head, remaining) {
      const nothing = { pack: await startPack().finish(), latest: [], commits: [] }
      const sent = head === tip.commit ? undefined : written
      return push(session, { tip, head }, { ...(sent ?? nothing), remaining })
    },
    askToPush: () => session.channel.askToPush(),
    async findLanded(tip, sought) {
      const known = history ?? (tip.commit === undefined ? 'moved' : await fetchHistory(session, tip.commit))
      return known === 'moved' ? sought.map(() => undefined) : searchHistory(session, known, sought)
    },
    async close() {
      written?.release()
      await close()
    },
  }
}
