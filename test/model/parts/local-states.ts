import { setImmediate } from 'node:timers/promises'
import type { Call, Input, Outside, Program } from './program.ts'
import { fireNext, makeTime, nextDue, within } from '../../harness/virtual-time.ts'

/**
 * All that a program may do next, after all that has happened to it. Programs meet only in their calls, and are
 * otherwise deterministic: so it is the same whenever the same has happened, and is found by running the real code once.
 */
export interface LocalState {
  readonly id: number
  readonly calls: readonly Call[]
  /** In milliseconds of its clock: the first timer, and the first that reads `stored`. */
  readonly due: number
  readonly looksAt: number
  /** What it reported in its last step. */
  readonly reports: readonly string[]
  readonly rest: string | undefined
}

/** Finds the states of programs; `known` answers at once where a state was met before. */
export interface LocalStates {
  readonly knownStart: (program: Program, memory: string) => LocalState | undefined
  readonly start: (program: Program, memory: string) => Promise<LocalState>
  readonly known: (before: LocalState, input: Input) => LocalState | undefined
  readonly next: (before: LocalState, input: Input) => Promise<LocalState>
  /** How many states were met, and how many inputs were given to real code for that. */
  readonly counts: { states: number; inputs: number }
}

interface Node {
  readonly state: LocalState
  readonly program: Program
  readonly memory: string
  readonly before: { readonly node: Node; readonly input: Input } | undefined
  readonly after: Map<string, LocalState>
  live: Live | undefined
}

interface Live {
  readonly input: (input: Input) => Promise<void>
  readonly look: (id: number) => LocalState
}

/** Programs that are kept running: the others are run again from their start. */
const MOST_LIVE = 1_000

/** Knows nothing yet. */
export function makeLocalStates(): LocalStates {
  const starts = new Map<string, LocalState>()
  const nodes = new Map<LocalState, Node>()
  const running: Node[] = []
  const counts = { states: 0, inputs: 0 }

  function keep(of: Omit<Node, 'state' | 'after'> & { readonly live: Live }): LocalState {
    counts.states += 1
    const state = of.live.look(counts.states)
    const node = { ...of, state, after: new Map<string, LocalState>() }
    nodes.set(state, node)
    running.push(node)
    if (running.length > MOST_LIVE) running.splice(0, 1).forEach((old) => (old.live = undefined))
    return state
  }

  function nodeOf(state: LocalState): Node {
    const node = nodes.get(state)
    if (node === undefined) throw new Error('This state was not found here')
    return node
  }

  /** The program in that state. It goes on from there, so the next caller gets another one. */
  async function liveAt(node: Node): Promise<Live> {
    const { live } = node
    node.live = undefined
    if (live !== undefined) return live
    const inputs: Input[] = []
    let first = node
    for (; first.before !== undefined; first = first.before.node) inputs.unshift(first.before.input)
    const again = await open(first.program, first.memory)
    for (const input of inputs) await again.input(input)
    counts.inputs += inputs.length
    return again
  }

  return {
    counts,
    knownStart: ({ name }, memory) => starts.get(`${name} ${memory}`),
    async start(program, memory) {
      const live = await open(program, memory)
      const state = keep({ program, memory, before: undefined, live })
      starts.set(`${program.name} ${memory}`, state)
      return state
    },
    known: (before, input) => nodeOf(before).after.get(keyOf(input)),
    async next(before, input) {
      const node = nodeOf(before)
      const live = await liveAt(node)
      await live.input(input)
      counts.inputs += 1
      const { program, memory } = node
      const state = keep({ program, memory, before: { node, input }, live })
      node.after.set(keyOf(input), state)
      return state
    },
  }
}

function keyOf({ at, to, text }: Input): string {
  return `${at} ${to} ${text}`
}

async function open({ wall, start }: Program, memory: string): Promise<Live> {
  const time = makeTime(wall)
  const calls = new Map<number, Call & { readonly answer: (text: string) => void }>()
  let reports: string[] = []
  let stored = ''
  let number = 0

  const outside: Outside = {
    async call(kind, text, signal) {
      signal?.throwIfAborted()
      const { promise, resolve, reject } = Promise.withResolvers<string>()
      number += 1
      const own = number
      const leave = (): void => {
        calls.delete(own)
        reject(signal?.reason instanceof Error ? signal.reason : new Error('Aborted'))
      }
      calls.set(own, { number: own, kind, text, answer: resolve })
      signal?.addEventListener('abort', leave, { once: true })
      return promise.finally(() => signal?.removeEventListener('abort', leave))
    },
    report: (text) => void reports.push(text),
    stored: () => stored,
  }
  const running = within(time, '', () => start(outside, memory, time))
  await setImmediate()

  return {
    async input({ at, to, text }) {
      time.elapsed = at * 1000
      reports = []
      if (to === 'timers') {
        stored = text
        while (fireNext(time)) await setImmediate()
        return
      }
      if (to === 'program') within(time, '', () => running.take(text))
      else {
        const call = calls.get(to)
        calls.delete(to)
        call?.answer(text)
      }
      await setImmediate()
    },
    look: (id) => ({
      id,
      calls: [...calls.values()].map(({ number, kind, text }) => ({ number, kind, text })),
      due: nextDue(time) ?? Infinity,
      looksAt: nextDue(time, (label) => label !== '') ?? Infinity,
      reports,
      rest: calls.size > 0 ? undefined : running.rest(time),
    }),
  }
}
