import { setImmediate } from 'node:timers/promises'
import t from 'tap'
import { connectCluster } from '../../../functions/cluster/connect.ts'
import { unlessAborted } from '../../../functions/domain/deadline.ts'
import { mutate, validate } from '../../../webhook/admission/admission.ts'
import { NO_TURN } from '../../../webhook/admission/deadline.ts'
import { shareThread, type ThreadTurns } from '../../../webhook/admission/thread-turns.ts'
import { gitCommit, stamped } from '../stage.ts'
import { admissionOver, clusterWith, created } from './stage.ts'

const NEVER = new AbortController().signal
const CREDENTIALS = ['credentials', 'fallbackCredentials', 'signing'] as const
/** The decision, and of each Secret whether it may be used, for what it holds, and for which paths. */
const WORKS = 1 + 3 * CREDENTIALS.length

/** Turns on a clock on which each work takes so many milliseconds, and whose it was. */
function turns(took: Readonly<Record<string, number>>) {
  const order: string[] = []
  let now = 0
  const inTurn = shareThread(() => now)
  const taken: ThreadTurns = (namespace, signal, work, address) => {
    const begin = (): ReturnType<typeof work> => {
      now += took[namespace] ?? 1
      order.push(namespace)
      return work()
    }
    return inTurn(namespace, signal, begin, address)
  }
  return { order, inTurn: taken }
}

/** Whatever is done before the next turn of the event loop is done then. */
async function ticks(): Promise<void> {
  for (let times = 0; times < 100; times += 1) await new Promise<void>((resolve) => process.nextTick(resolve))
}

t.test(
  'what takes long is the last work of a turn of the event loop, and what it throws is thrown',
  async (t) => {
    const { order, inTurn } = turns({ slow: 50 })
    const works = [1, 2, 3].map((result) => inTurn('slow', NEVER, () => result))
    await ticks()
    t.equal(order.length, 1)
    t.same(await Promise.all(works), [1, 2, 3])
    const bug = new TypeError('a bug')
    const throws = (): never => {
      throw bug
    }
    await t.rejects(inTurn('shop', NEVER, throws), bug)
    t.equal(await inTurn('shop', NEVER, () => 'next'), 'next')
  },
)

t.test('of works that take a millisecond, some are done in a turn of the event loop', async (t) => {
  const { order, inTurn } = turns({})
  const works = Array.from({ length: 30 }, () => inTurn('shop', NEVER, () => undefined))
  await ticks()
  t.equal(order.length, 10)
  await Promise.all(works)
})

t.test('a namespace that has taken more of the thread waits while another one goes on', async (t) => {
  const { order, inTurn } = turns({ loud: 1_100 })
  const loud = Array.from({ length: 4 }, () => inTurn('loud', NEVER, () => undefined))
  await loud[0]
  for (let times = 0; times < 3; times += 1) await inTurn('quiet', NEVER, () => undefined)
  t.same(order, ['loud', 'quiet', 'quiet', 'quiet'])
  await Promise.all(loud)
  t.same(order.slice(4), ['loud', 'loud', 'loud'])
})

t.test(
  'ten namespaces that are busy keep one that has taken little from one work with each of its own',
  async (t) => {
    const busy = Array.from({ length: 10 }, (_, index) => `busy-${index}`)
    const { order, inTurn } = turns(Object.fromEntries(busy.map((namespace) => [namespace, 30])))
    const works = busy.flatMap((namespace) =>
      [1, 2, 3, 4].map(() => inTurn(namespace, NEVER, () => undefined)),
    )
    // Each has taken 60 ms.
    await Promise.all(works.filter((_, index) => index % 4 < 2))
    const before = order.length
    for (let times = 0; times < 4; times += 1) await inTurn('shop', NEVER, () => undefined)
    t.ok(order.length <= before + 8, order.slice(before).join(' '))
    await Promise.all(works)
  },
)

t.test('an address that names many namespaces keeps another one waiting for one work', async (t) => {
  const { order, inTurn } = turns(
    Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`made-up-${index}`, 50])),
  )
  const made = Array.from({ length: 50 }, (_, index) =>
    inTurn(`made-up-${index}`, NEVER, () => undefined, '192.0.2.1'),
  )
  await setImmediate()
  const before = order.length
  for (let times = 0; times < 3; times += 1) await inTurn('shop', NEVER, () => undefined, '192.0.2.2')
  t.ok(order.indexOf('shop') <= before + 2, order.join(' '))
  t.ok(order.length < 20, `${order.length} works`)
  await Promise.all(made)
})

t.test(
  'many addresses, whatever they name, keep another one waiting for a work or two, not for one of each',
  async (t) => {
    const { order, inTurn } = turns({ pod: 50 })
    const ended = { is: false }
    const pods = Array.from({ length: 20 }, async (_, index) => {
      while (!ended.is) await inTurn('pod', NEVER, () => undefined, `192.0.2.${index + 10}`)
    })
    for (let times = 0; times < 40; times += 1) await setImmediate()
    const before = order.length
    for (let times = 0; times < 10; times += 1) {
      await inTurn('shop', NEVER, () => undefined, '192.0.2.2')
      await setImmediate()
    }
    ended.is = true
    await Promise.all(pods)
    const last = order.lastIndexOf('shop')
    t.ok(last - before < 10 + 30, `${last - before} works`)
  },
)

t.test('works that are short keep an address whose works are long from none of its turns', async (t) => {
  const { order, inTurn } = turns({ long: 50, short: 1 })
  const seen = { is: false }
  const short = ['192.0.2.10', '192.0.2.11'].map(async (address) => {
    while (!seen.is) await inTurn('short', NEVER, () => undefined, address)
  })
  for (let times = 0; times < 4; times += 1) await inTurn('long', NEVER, () => undefined, '192.0.2.2')
  seen.is = true
  await Promise.all(short)
  t.ok(order.length < 4 * 150, `${order.length} works`)
})

t.test('what the tenants behind an address have taken is held against it for a moment only', async (t) => {
  const made = Array.from({ length: 50 }, (_, index) => `made-up-${index}`)
  const { order, inTurn } = turns({
    busy: 1_000,
    ...Object.fromEntries(made.map((namespace) => [namespace, 50])),
  })
  for (let times = 0; times < 60; times += 1) await inTurn('busy', NEVER, () => undefined, '192.0.2.2')
  const works = made.map((namespace) => inTurn(namespace, NEVER, () => undefined, '192.0.2.1'))
  await inTurn('shop', NEVER, () => undefined, '192.0.2.2')
  t.ok(order.length < 60 + 15, order.slice(60).join(' '))
  await Promise.all(works)
})

t.test('what a namespace waits for works of other addresses is not held against it at its own', async (t) => {
  const busy = Array.from({ length: 10 }, (_, index) => `busy-${index}`)
  const { order, inTurn } = turns({
    pod: 50,
    ...Object.fromEntries(busy.map((namespace) => [namespace, 50])),
  })
  const ended = { is: false }
  const goOn = async (namespace: string, address: string): Promise<void> => {
    while (!ended.is) await inTurn(namespace, NEVER, () => undefined, address)
  }
  const others = [
    ...['192.0.2.10', '192.0.2.11'].map((address) => goOn('pod', address)),
    ...busy.map((namespace) => goOn(namespace, '192.0.2.2')),
  ]
  const works = 20
  for (let times = 0; times < works; times += 1) await inTurn('shop', NEVER, () => undefined, '192.0.2.2')
  const count = order.filter((namespace) => namespace.startsWith('busy')).length
  ended.is = true
  await Promise.all(others)
  t.ok(count <= busy.length * 4 + works, `${count} works of the busy ones`)
})

t.test(
  'long works of a tenant make others at its address wait for a work of each other address',
  async (t) => {
    const { order, inTurn } = turns({ pod: 20, busy: 60 })
    const ended = { is: false }
    const goOn = async (namespace: string, address: string): Promise<void> => {
      while (!ended.is) await inTurn(namespace, NEVER, () => undefined, address)
    }
    const pods = Array.from({ length: 8 }, (_, index) => goOn('pod', `192.0.2.${index + 10}`))
    const others = [...pods, goOn('busy', '192.0.2.2')]
    const works = 20
    for (let times = 0; times < works; times += 1) {
      await inTurn('shop', NEVER, () => undefined, '192.0.2.2')
      await setImmediate()
    }
    const count = order.filter((namespace) => namespace === 'pod').length
    ended.is = true
    await Promise.all(others)
    // One for each work of the shop, and one for the busy one that is next.
    t.ok(count <= works * pods.length * 2.5, `${count} works of the pods`)
  },
)

t.test('whoever has gone waits for no turn', async (t) => {
  const { order, inTurn } = turns({})
  const gone = new AbortController()
  const works = [NEVER, gone.signal, NEVER].map((signal) => inTurn('shop', signal, () => undefined))
  gone.abort(new Error('gone'))
  await t.rejects(works[1] ?? Promise.resolve(), { message: 'gone' })
  await Promise.all(works.filter((_, index) => index !== 1))
  t.equal(order.length, 2)
})

/** A review by /validate of a GitCommit in this namespace that names three Secrets, which are checked. */
function looking(namespace: string) {
  const secrets = Object.fromEntries(CREDENTIALS.map((field) => [field, { secretName: 'git' }]))
  const resource = stamped({ namespace }, secrets)
  return created(JSON.parse(JSON.stringify(resource)), { namespace })
}

t.test(
  'of a namespace with many reviews in hand, another one waits for one work with each of its own',
  async (t) => {
    const { order, inTurn } = turns({ loud: 50 })
    const cluster = clusterWith()
    const readSecret = async (_namespace: string, name: string) => {
      await setImmediate()
      return cluster.readSecret('shop', name)
    }
    const deadlines = { decideMs: 60_000, lookMs: 60_000 }
    const admission = { ...admissionOver({ cluster: { readSecret }, deadlines }), inTurn }
    const floods = Array.from({ length: 20 }, () => validate(looking('loud'), admission))
    await setImmediate()
    const began = order.length
    t.match(await validate(looking('quiet'), admission), { denial: undefined })
    const [loud = [], quiet = []] = ['loud', 'quiet'].map((one) =>
      order.slice(began).filter((of) => of === one),
    )
    t.equal(quiet.length, WORKS)
    t.ok(loud.length <= WORKS + 3, `${loud.length} works`)
    await Promise.all(floods)
    t.equal(order.filter((namespace) => namespace === 'loud').length, 20 * WORKS)
  },
)

/** A real cluster that sends a Secret when `answer` is called, and the reads that wait for that. */
function slowSecrets() {
  const open = new Map<string, () => void>()
  const cluster = connectCluster(
    ({ path, signal }) =>
      new Promise((resolve, reject) => {
        const [, namespace, , name] = path.split('/').slice(3)
        const key = `${path} ${open.size}`
        const text = JSON.stringify({
          kind: 'Secret',
          metadata: { namespace, name },
          data: { token: 'czNjcjN0' },
        })
        open.set(key, () => resolve({ status: 200, text }))
        signal?.addEventListener('abort', () => reject(new Error('The call was ended.')))
      }),
  )
  async function answer(): Promise<void> {
    for (const [key, send] of open) {
      open.delete(key)
      send()
    }
    await setImmediate()
  }
  return {
    readSecret: (...of: Parameters<typeof cluster.readSecret>) => cluster.readSecret(...of),
    open,
    answer,
  }
}

t.test('the Secrets of a namespace are read two at a time, and parsed in its turns', async (t) => {
  const { order, inTurn } = turns({})
  const { readSecret, open, answer } = slowSecrets()
  const deadlines = { decideMs: 60_000, lookMs: 60_000 }
  const admission = { ...admissionOver({ cluster: { readSecret }, deadlines }), inTurn }
  const reviews = Array.from({ length: 4 }, () => validate(looking('loud'), admission))
  const seen = { over: false, most: 0 }
  const done = Promise.all(reviews).finally(() => (seen.over = true))
  while (!seen.over) {
    seen.most = Math.max(seen.most, open.size)
    await answer()
  }
  await done
  t.equal(seen.most, 2)
  t.equal(order.length, 4 * (WORKS + CREDENTIALS.length), 'each Secret takes a turn to be parsed')
})

t.test('once there is no time left for warnings, no Secret is read any more', async (t) => {
  const { readSecret, open, answer } = slowSecrets()
  const ended: unknown[] = []
  const watched: typeof readSecret = (...of) => {
    const read = readSecret(...of)
    void read.catch((error: unknown) => {
      ended.push(error)
    })
    return read
  }
  const admission = admissionOver({
    cluster: { readSecret: watched },
    deadlines: { decideMs: 60_000, lookMs: 1 },
  })
  t.match(await validate(looking('loud'), admission), { denial: undefined, warnings: [] })
  t.equal(open.size, 2)
  await answer()
  t.equal(ended.length, CREDENTIALS.length)
  t.equal(open.size, 0)
})

t.test('a review that finds no turn in time is denied, and its sender is told why', async (t) => {
  const inTurn: ThreadTurns = (_namespace, signal) => unlessAborted(new Promise(() => undefined), signal)
  const admission = { ...admissionOver({ deadlines: { decideMs: 1, lookMs: 1 } }), inTurn }
  for (const decide of [mutate, validate]) {
    const { denial } = await decide(created(gitCommit()), admission)
    t.match(denial, { code: 503, reason: 'ServiceUnavailable', message: NO_TURN })
  }
})
