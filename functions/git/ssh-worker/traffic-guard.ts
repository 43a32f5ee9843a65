/** How a server broke the limits of a connection. */
export type Violation =
  /** More than 1 MiB that belongs to no channel. */
  | 'chatter'
  /** A second key exchange: it costs much and is never needed for as long as a connection lasts here. */
  | 'second key exchange'
  /** A message that has no place at this point of the connection. */
  | 'out of turn'
  /** More bytes of channels than it was allowed to send (RFC 4254, section 5.2). */
  | 'beyond the window'
  /** It takes packets of hardly any bytes: of none, ssh2 would send them for ever. */
  | 'tiny packets'

/** Watches the traffic of one connection: tells of a violation, with which it has to end. */
export interface TrafficGuard {
  /** Counts bytes of the connection, before ssh2 reads them. */
  readonly received: (bytes: number) => Violation | undefined
  /** Reads one line of ssh2's trace: it has one for each message, before the message has an effect. */
  readonly trace: (line: string) => Violation | undefined
}

/** Bytes that are accepted outside of channels: a server of OpenSSH sends 2 to 4 KiB of them. */
export const CHATTER_LIMIT = 1024 * 1024
/** What a message outside of channels counts besides its bytes, for each costs time however short it is. */
const MESSAGE_COST = 96
/** What packet and message of channel data need besides the data (RFC 4253, section 6), with the longest checksum. */
const PACKET_OVERHEAD = 100
/** What ssh2 allows the server to send when it opens a channel (`MAX_WINDOW` of its lib/Channel.js). */
const FIRST_WINDOW = 2 * 1024 * 1024

/** What may come at any time, and in each phase of a connection. */
const ALWAYS =
  /^Inbound: (Received (DISCONNECT|IGNORE|UNIMPLEMENTED|DEBUG|EXT_INFO)|Skipping|Unsupported|Handshake|NEWKEYS)/
const PHASES = {
  handshake: /^$/,
  service: /^Inbound: Received SERVICE_ACCEPT/,
  login: /^Inbound: Received USERAUTH_/,
  open: /^Inbound: (GLOBAL_REQUEST|REQUEST_SUCCESS|Received REQUEST_FAILURE|CHANNEL_)/,
} as const

/** The lines with which the next phase begins. */
const NEXT: readonly (readonly [string, keyof typeof PHASES])[] = [
  ['Handshake completed', 'service'],
  ['Outbound: Sending USERAUTH_REQUEST', 'login'],
  ['Inbound: Received USERAUTH_SUCCESS', 'open'],
]
const KEY_EXCHANGE = 'Inbound: Handshake in progress'
/** A server that accepts a key asks for one signature by it, which takes 35 ms with a large one; ssh2 makes as many as it asks for. */
const SHOWN = 'Outbound: Sending USERAUTH_REQUEST (publickey -- check)'
const ACCEPTED = 'Inbound: Received USERAUTH_PK_OK'
/** OpenSSH tells its host keys once. ssh2 parses each, and 1 MiB of them takes a second. */
const HOST_KEYS = 'Inbound: GLOBAL_REQUEST (hostkeys-00@openssh.com)'
const ASKED = 'Outbound: Sending CHANNEL_OPEN (r:'
const CONFIRMED = 'Inbound: CHANNEL_OPEN_CONFIRMATION'
const DATA = /^Inbound: CHANNEL_(EXTENDED_)?DATA (\(r:\d+), (\d+)\)/
/** No data of its channel may follow (RFC 4254, section 5.3): after it, standard error makes ssh2 end the thread by an error. */
const EOF = /^Inbound: CHANNEL_EOF (\(r:\d+)\)/
/** What a message costs at least, in bytes of data in large packets: 30 to 60 microseconds of the processor. */
export const PACKET_COST = 4 * 1024
const ADJUSTED = /^Outbound: Sending CHANNEL_WINDOW_ADJUST \(r:\d+, (\d+)\)/

/**
 * Only bytes of channels do not count towards the limit of what comes outside of them, with what their packets need; a packet of
 * few bytes counts nevertheless, because each costs as much as a large one.
 *
 * `took` is told what each message costs besides the data, whose bytes are counted where they are read: what the data lacks to
 * 4 KiB, or all of it where it is standard error.
 */
export function guardTraffic(took: (cost: number) => void = () => undefined): TrafficGuard {
  let phase: keyof typeof PHASES = 'handshake'
  let [outside, exchanges, shown, told, asked, window] = [0, 0, 0, 0, 0, 0]
  /** Channels whose data has ended. */
  const ended = new Set<string>()

  function confirm(): Violation | undefined {
    asked -= 1
    window += FIRST_WINDOW
    return asked < 0 ? 'out of turn' : undefined
  }

  function take(length: number): Violation | undefined {
    window -= length
    outside = Math.max(0, outside - length - Math.min(length, PACKET_OVERHEAD))
    return window < 0 ? 'beyond the window' : undefined
  }

  function inbound(line: string): Violation | undefined {
    if (!ALWAYS.test(line) && !PHASES[phase].test(line)) return 'out of turn'
    const [, isWords, channel, count] = DATA.exec(line) ?? []
    const length = Number(count ?? 0)
    took(isWords === undefined ? Math.max(0, PACKET_COST - length) : Math.max(length, PACKET_COST))
    if (channel !== undefined) return ended.has(channel) ? 'out of turn' : take(length)
    const [, end] = EOF.exec(line) ?? []
    if (end !== undefined) ended.add(end)
    if (line.startsWith(CONFIRMED)) return confirm()
    outside += MESSAGE_COST
    shown -= Number(line === ACCEPTED)
    told += Number(line === HOST_KEYS)
    if (shown < 0 || told > 1) return 'out of turn'
    exchanges += Number(line === KEY_EXCHANGE)
    return exchanges > 1 ? 'second key exchange' : undefined
  }

  return {
    received(bytes) {
      outside += bytes
      return outside > CHATTER_LIMIT ? 'chatter' : undefined
    },
    trace(line) {
      const violation = line.startsWith('Inbound: ') ? inbound(line) : undefined
      shown += Number(line === SHOWN)
      asked += Number(line.startsWith(ASKED))
      window += Number(ADJUSTED.exec(line)?.[1] ?? 0)
      phase = NEXT.find(([beginning]) => line.startsWith(beginning))?.[1] ?? phase
      return violation
    },
  }
}
