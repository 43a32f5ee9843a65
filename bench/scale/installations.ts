import type { Installation } from './simulation/simulate.ts'
import type { Costs, Engine, Turns, Work } from './simulation/world.ts'

/**
 * CPU for one GitCommit with a Secret, as real/burst.ts finds it in bursts: API server and etcd 19 to 27 ms, webhook
 * 5 ms, function 8 ms. It is assumed that the API server spends as much when it stores the object, at the claim and at the
 * end.
 */
export const COSTS: Costs = {
  apiServer: { store: 8, claim: 8, end: 8 },
  webhook: { store: 5 },
  pod: { claim: 5, end: 3 },
}

/** The direct engine: three round trips to a branch that it does not know, one to one that it does; measured likewise. */
const DIRECT: Engine = {
  read: { podMs: 5, trips: 2, hostMs: 12 },
  readAgain: { podMs: 10, trips: 2, hostMs: 12 },
  push: { podMs: 5, trips: 1, hostMs: 18 },
  perCommit: { podMs: 0.3, trips: 0, hostMs: 0.3 },
  remembersTip: true,
}

/** The git binary, with the times of issue 13: 100 ms from the claim to the tip, 115 ms to write and push. */
const BINARY: Engine = {
  read: { podMs: 80, trips: 2, hostMs: 30 },
  readAgain: { podMs: 80, trips: 2, hostMs: 30 },
  push: { podMs: 105, trips: 3, hostMs: 30 },
  perCommit: { podMs: 1, trips: 0, hostMs: 0.5 },
  remembersTip: false,
}

/** functions/attempt/turns/shares.ts. */
const TURNS: Turns = { total: 64, perNamespace: 8, keptWhileWaiting: false }
/** Before waiting cost no turn. */
export const OLD_TURNS: Turns = { ...TURNS, keptWhileWaiting: true }
/** The experiment of issue 13 with more turns. */
export const MORE_TURNS: Turns = { total: 512, perNamespace: 256, keptWhileWaiting: true }

/** A machine of two cores on which everything runs, with the git binary: where issue 13 was measured. */
export const LAB: Installation = {
  webhooks: 1,
  turns: OLD_TURNS,
  engine: BINARY,
  costs: COSTS,
  host: { tripMs: 0.5 },
  firstMs: 270,
  startMs: 500,
  cores: { shared: 2 },
  scaling: fixed(1),
}

/** Where real/burst.ts measures: the direct engine. `slower`: how much longer everything took for other work. */
export function site(pods: number, slower: number): Installation {
  const costs = {
    apiServer: { store: 8 * slower, claim: 8 * slower, end: 8 * slower },
    webhook: { store: 5 * slower },
    pod: { claim: 5 * slower, end: 3 * slower },
  }
  return {
    ...LAB,
    engine: eachWork(DIRECT, (work) => times(work, slower)),
    costs,
    turns: TURNS,
    firstMs: 0,
    scaling: fixed(pods),
  }
}

/** Assumed of a hosted service: how long it takes for a read and for a push, in milliseconds, and its round trip. */
export const HOSTED = { readMs: 100, pushMs: 300, tripMs: 30 }

/** What knative.yaml and manifests/webhook.yaml install, with an API server of four cores and a hosted service. */
export const SHIPPED: Installation = {
  webhooks: 2,
  turns: TURNS,
  engine: {
    ...DIRECT,
    read: { ...DIRECT.read, hostMs: HOSTED.readMs },
    readAgain: { ...DIRECT.readAgain, hostMs: HOSTED.readMs },
    push: { ...DIRECT.push, hostMs: HOSTED.pushMs },
  },
  costs: COSTS,
  host: { tripMs: HOSTED.tripMs },
  firstMs: 270,
  startMs: 2_000,
  cores: { apiServer: 4, pod: 1, host: Infinity },
  scaling: { target: 300, minScale: 0, maxScale: 4 },
}

function fixed(pods: number): Installation['scaling'] {
  return { target: 1_000, minScale: pods, maxScale: pods }
}

function eachWork(engine: Engine, change: (work: Work) => Work): Engine {
  const { read, readAgain, push, perCommit } = engine
  return {
    ...engine,
    read: change(read),
    readAgain: change(readAgain),
    push: change(push),
    perCommit: change(perCommit),
  }
}

function times({ podMs, trips, hostMs }: Work, factor: number): Work {
  return { podMs: podMs * factor, trips, hostMs: hostMs * factor }
}
