import { AsyncLocalStorage } from 'node:async_hooks'
import { syncBuiltinESMExports } from 'node:module'
import timersPromises from 'node:timers/promises'

/** The time of one program: what its code sees of clocks and timers while it runs in `within`. */
export interface Time {
  /** Milliseconds of the clock that is never set. */
  elapsed: number
  /** What the clock of the machine adds to that, in milliseconds since 1970. */
  readonly wall: number
  readonly timers: Set<Timer>
}

interface Timer {
  due: number
  /** Of an interval: until it fires again. */
  readonly every: number | undefined
  readonly run: () => void
  /** In which context it was set; see `labelled`. */
  readonly label: string
}

interface Context {
  readonly time: Time
  readonly label: string
}

const TIMER = Symbol('timer')
const contexts = new AsyncLocalStorage<Context>()

/** Time that begins now; `wall` is what the clock of the machine says. */
export function makeTime(wall: number): Time {
  return { elapsed: 0, wall, timers: new Set() }
}

/** Runs code, and all that follows from it, in this time. Its timers have the label. */
export function within<T>(time: Time, label: string, run: () => T): T {
  return contexts.run({ time, label }, run)
}

/** When the first timer is due, of those whose label is accepted; undefined if there is none. */
export function nextDue(
  { timers }: Time,
  accept: (label: string) => boolean = () => true,
): number | undefined {
  let first: number | undefined
  for (const { due, label } of timers) if (accept(label) && (first === undefined || due < first)) first = due
  return first
}

/** Runs the first timer that is due by now, in the order of their times. False if there is none. */
export function fireNext(time: Time): boolean {
  const due = [...time.timers].filter((timer) => timer.due <= time.elapsed)
  const [first] = due.toSorted((one, other) => one.due - other.due)
  if (first === undefined) return false
  if (first.every === undefined) time.timers.delete(first)
  else first.due = time.elapsed + first.every
  within(time, first.label, first.run)
  return true
}

const LONGEST_RUN_MS = 3_600_000
/** More turns of the event loop than anything takes that waits for no timer. */
const IDLE_TURNS = 2_000

/**
 * Runs this in a time of its own, which passes as soon as everything in it waits.
 * @throws Error if it waits for ever, or for an hour
 */
export async function passTime<T>(run: () => Promise<T>): Promise<T> {
  const time = makeTime(Date.now())
  const ended = { isSo: false }
  const work = within(time, '', run).finally(() => (ended.isSo = true))
  for (let idle = 0; !ended.isSo; idle += 1) {
    for (let i = 0; i < 8; i += 1) await new Promise(setImmediate)
    const due = nextDue(time)
    if (idle > IDLE_TURNS || (due ?? 0) > LONGEST_RUN_MS) throw new Error('It waits for ever')
    if (due === undefined) continue
    idle = 0
    time.elapsed = Math.max(time.elapsed, due)
    fireNext(time)
  }
  return work
}

/** Sets a timer; what it returns has what our code uses of Node's timers. */
function add({ time, label }: Context, run: () => void, milliseconds: number, every?: number): Handle {
  const timer: Timer = { due: time.elapsed + Math.max(0, milliseconds), every, run, label }
  time.timers.add(timer)
  const handle: Handle = { unref: () => handle, [TIMER]: () => void time.timers.delete(timer) }
  return handle
}

interface Handle {
  readonly unref: () => Handle
  readonly [TIMER]: () => void
}

/**
 * Gives the code in `within` its own clocks and timers, of the global object and of `node:timers/promises`; everybody
 * else keeps the real ones. The result puts the real ones back.
 */
export function installVirtualTime(): () => void {
  const { setTimeout, clearTimeout, setInterval, clearInterval, Date: RealDate, AbortSignal } = globalThis
  const realTimeout = AbortSignal.timeout.bind(AbortSignal)
  const realPause = timersPromises.setTimeout
  const realNow = performance.now.bind(performance)

  const clear =
    (real: (handle: NodeJS.Timeout) => void) =>
    (handle: (NodeJS.Timeout & { readonly [TIMER]?: () => void }) | undefined): void => {
      if (handle?.[TIMER] !== undefined) handle[TIMER]()
      else if (handle !== undefined) real(handle)
    }
  const start =
    (real: (run: () => void, milliseconds?: number) => unknown, repeats: boolean) =>
    (run: () => void, milliseconds = 0): unknown => {
      const context = contexts.getStore()
      if (context === undefined) return real(run, milliseconds)
      return add(context, run, milliseconds, repeats ? milliseconds : undefined)
    }
  const virtual = {
    setTimeout: start(setTimeout, false),
    setInterval: start(setInterval, true),
    clearTimeout: clear(clearTimeout),
    clearInterval: clear(clearInterval),
    Date: new Proxy(RealDate, {
      construct(target, args) {
        const context = args.length > 0 ? undefined : contexts.getStore()
        return Reflect.construct(target, context === undefined ? args : [wallOf(context)])
      },
      get(target, key, receiver) {
        if (key !== 'now') return Reflect.get(target, key, receiver)
        const context = contexts.getStore()
        return context === undefined ? target.now : () => wallOf(context)
      },
    }),
  }
  Object.assign(globalThis, virtual)
  const realRandom = Math.random.bind(Math)
  // Each pause with jitter takes its mean; what has to differ is drawn elsewhere.
  Object.assign(Math, { random: () => (contexts.getStore() === undefined ? realRandom() : 0.5) })
  Object.assign(performance, { now: () => contexts.getStore()?.time.elapsed ?? realNow() })
  Object.assign(AbortSignal, {
    timeout(milliseconds: number) {
      const context = contexts.getStore()
      if (context === undefined) return realTimeout(milliseconds)
      const over = new AbortController()
      add(context, () => over.abort(new DOMException('The time is over', 'TimeoutError')), milliseconds)
      return over.signal
    },
  })
  Object.assign(timersPromises, {
    setTimeout(milliseconds: number, value: unknown, options: { readonly signal?: AbortSignal } = {}) {
      const context = contexts.getStore()
      if (context === undefined) return realPause(milliseconds, value, options)
      return pause(context, milliseconds, { value, signal: options.signal })
    },
  })
  syncBuiltinESMExports()

  return () => {
    Object.assign(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval, Date: RealDate })
    Object.assign(AbortSignal, { timeout: realTimeout })
    Object.assign(Math, { random: realRandom })
    Object.assign(performance, { now: realNow })
    Object.assign(timersPromises, { setTimeout: realPause })
    syncBuiltinESMExports()
  }
}

function wallOf({ time }: Context): number {
  return time.wall + time.elapsed
}

function pause(
  context: Context,
  milliseconds: number,
  { value, signal }: { readonly value: unknown; readonly signal: AbortSignal | undefined },
): Promise<unknown> {
  const { promise, resolve, reject } = Promise.withResolvers<unknown>()
  const handle = add(context, () => resolve(value), milliseconds)
  function abort(): void {
    handle[TIMER]()
    reject(signal?.reason instanceof Error ? signal.reason : new Error('aborted'))
  }
  if (signal?.aborted === true) abort()
  signal?.addEventListener('abort', abort, { once: true })
  return promise.finally(() => signal?.removeEventListener('abort', abort))
}
