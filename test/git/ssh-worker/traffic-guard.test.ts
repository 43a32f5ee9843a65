import t from 'tap'
import {
  CHATTER_LIMIT,
  guardTraffic,
  type Violation,
} from '../../../functions/git/ssh-worker/traffic-guard.ts'

const HANDSHAKE = ['Inbound: Handshake in progress', 'Inbound: NEWKEYS', 'Handshake completed']
const LOGIN = [
  ...HANDSHAKE,
  'Inbound: Received EXT_INFO',
  'Inbound: Received SERVICE_ACCEPT (ssh-userauth)',
  'Outbound: Sending USERAUTH_REQUEST (publickey -- check)',
  'Inbound: Received USERAUTH_BANNER',
  'Inbound: Received USERAUTH_PK_OK',
  'Outbound: Sending USERAUTH_REQUEST (publickey)',
  'Inbound: Received USERAUTH_SUCCESS',
]
const OPEN = [
  ...LOGIN,
  'Inbound: GLOBAL_REQUEST (hostkeys-00@openssh.com)',
  'Outbound: Sending CHANNEL_OPEN (r:0, session)',
  'Inbound: CHANNEL_OPEN_CONFIRMATION (r:0, s:5)',
  'Inbound: CHANNEL_SUCCESS (r:0)',
]

/** The violations that a guard finds in the lines. */
function violationsOf(lines: readonly string[]): readonly Violation[] {
  const guard = guardTraffic()
  return lines.map(guard.trace).filter((violation) => violation !== undefined)
}

t.test('what servers usually send is accepted', async (t) => {
  const adjusted = [
    'Inbound: CHANNEL_DATA (r:0, 1500000)',
    'Outbound: Sending CHANNEL_WINDOW_ADJUST (r:5, 1500000)',
  ]
  const end = ['Inbound: CHANNEL_EXTENDED_DATA (r:0, 20)', 'Inbound: CHANNEL_REQUEST (r:0, exit-status: 0)']
  t.same(violationsOf([...OPEN, ...Array<string[]>(9).fill(adjusted).flat(), ...end]), [])
})

const CASES: readonly (readonly [string, readonly string[], Violation])[] = [
  ['a login that nobody asked for', [...HANDSHAKE, 'Inbound: Received USERAUTH_SUCCESS'], 'out of turn'],
  ['a login before the keys', ['Inbound: Received USERAUTH_SUCCESS'], 'out of turn'],
  ['data before the login', [...HANDSHAKE, 'Inbound: CHANNEL_DATA (r:0, 1)'], 'out of turn'],
  ['a banner after the login', [...LOGIN, 'Inbound: Received USERAUTH_BANNER'], 'out of turn'],
  ['a second success', [...LOGIN, 'Inbound: Received USERAUTH_SUCCESS'], 'out of turn'],
  ['an answer to no question', [...LOGIN, 'Inbound: Received payload type 60 without auth'], 'out of turn'],
  [
    'a channel that nobody asked for',
    [...OPEN, 'Inbound: CHANNEL_OPEN_CONFIRMATION (r:0, s:6)'],
    'out of turn',
  ],
  ['a second key exchange', [...OPEN, 'Inbound: Handshake in progress'], 'second key exchange'],
  ['more than the window', [...OPEN, 'Inbound: CHANNEL_DATA (r:0, 2097153)'], 'beyond the window'],
  [
    'more than the window on a channel that is not there',
    [...OPEN, ...Array<string>(100).fill('Inbound: CHANNEL_EXTENDED_DATA (r:7, 30000)')],
    'beyond the window',
  ],
]
for (const [what, lines, violation] of CASES) {
  t.test(`${what} is ${violation}`, async (t) => t.equal(violationsOf(lines)[0], violation))
}

t.test('a second wish for a signature is out of turn', async (t) => {
  t.same(violationsOf([...LOGIN.slice(0, -1), 'Inbound: Received USERAUTH_PK_OK']), ['out of turn'])
})

t.test('host keys that are told twice are out of turn', async (t) => {
  t.same(violationsOf([...OPEN, 'Inbound: GLOBAL_REQUEST (hostkeys-00@openssh.com)']), ['out of turn'])
})

t.test('standard error after the end of its channel is out of turn', async (t) => {
  const words = 'Inbound: CHANNEL_EXTENDED_DATA (r:0, 1)'
  t.same(violationsOf([...OPEN, 'Inbound: CHANNEL_EOF (r:0)', words]), ['out of turn'])
})

/** How many packets of so many bytes of a channel a server may send, up to the limit of this test. */
function packetsOf(bytes: number, overhead: number): number {
  const guard = guardTraffic()
  OPEN.forEach(guard.trace)
  let count = 0
  let found: Violation | undefined
  for (; found === undefined && count < 200_000; count++) {
    found = guard.received(bytes + overhead) ?? guard.trace(`Inbound: CHANNEL_DATA (r:0, ${bytes})`)
    guard.trace(`Outbound: Sending CHANNEL_WINDOW_ADJUST (r:5, ${bytes})`)
  }
  return count
}

/** What a guard tells that a message costs, after the login. */
function costOf(line: string): number {
  const told: number[] = []
  const guard = guardTraffic((cost) => told.push(cost))
  OPEN.forEach(guard.trace)
  told.length = 0
  guard.trace(line)
  return told.reduce((sum, cost) => sum + cost, 0)
}

const COSTS: readonly (readonly [string, string, number])[] = [
  ['data in a large packet', 'Inbound: CHANNEL_DATA (r:0, 32768)', 0],
  ['data in a small packet: what it lacks', 'Inbound: CHANNEL_DATA (r:0, 44)', 4_096 - 44],
  ['a few words of standard error', 'Inbound: CHANNEL_EXTENDED_DATA (r:0, 1)', 4_096],
  ['many words of standard error: all their bytes', 'Inbound: CHANNEL_EXTENDED_DATA (r:0, 32768)', 32_768],
  ['a message of no channel', 'Inbound: GLOBAL_REQUEST (none@example.com)', 4_096],
  ['an adjustment of the window', 'Inbound: CHANNEL_WINDOW_ADJUST (r:0, 1)', 4_096],
  ['what is sent', 'Outbound: Sending CHANNEL_DATA (r:5, 1)', 0],
]
t.test('small packets, standard error and other messages are counted as 4 KiB at least', async (t) => {
  for (const [what, line, cost] of COSTS) t.equal(costOf(line), cost, what)
})

t.test('data of channels has no limit here, in packets of usual size with any checksum', async (t) => {
  t.equal(packetsOf(32_768, 100), 200_000)
  t.equal(packetsOf(70, 37), 200_000)
})

t.test('packets of a few bytes count as what they cost', async (t) => {
  t.ok(packetsOf(1, 35) <= CHATTER_LIMIT / 32)
})

t.test('1 MiB outside of channels is the limit, in few long messages and in many short ones', async (t) => {
  for (const [bytes, most] of [
    [32_768, 32],
    [36, 8_000],
  ] as const) {
    const guard = guardTraffic()
    LOGIN.forEach(guard.trace)
    let count = 0
    let found: Violation | undefined
    for (; found === undefined; count++)
      found = guard.received(bytes) ?? guard.trace('Inbound: Received IGNORE')
    t.equal(found, 'chatter')
    t.ok(count > most / 2 && count <= most, `${count} messages of ${bytes} bytes`)
  }
})
