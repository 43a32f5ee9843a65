import type { Ratio } from './ratios/ratio.ts'
import type { Results } from './results.ts'

/** How large a ratio may be, and why. */
export interface Bound {
  readonly most: number
  readonly why: string
}

/**
 * The bounds of ratios, by their ids: about twice what was recorded, so that only a change of the code crosses them, and
 * not a busy machine. A ratio without a bound is shown, and never fails.
 */
export const BOUNDS: Readonly<Record<string, Bound>> = {
  'start/cached/time': {
    most: 4,
    why: 'the aim is 2.6: what is loaded before the first request costs each cold start',
  },
  'start/bundle/time': {
    most: 8,
    why: 'without the code cache, as where the version of Node differs from the image',
  },
  'start/cached/memory': { most: 3, why: 'a pod at rest pays for all that is loaded' },
  'commit/files-1/warm-shallow': { most: 0.26, why: 'one request against four processes of git' },
  'commit/files-1/cold-shallow': { most: 0.7, why: 'three requests, and no process of git' },
  'commit/files-10000/warm-clone': { most: 0.04, why: 'a commit must not cost what the repository holds' },
  'commit/files-10000/warm-shallow': { most: 0.04, why: 'the same against the cheapest clone' },
  'commit/files-10000/warm-binary': {
    most: 0.2,
    why: 'the direct engine is there to be faster than the git binary',
  },
  'commit/files-10000/cold-shallow': { most: 0.2, why: 'trees on the way alone are fetched' },
  'commit/files-10000/warm-floor': { most: 3, why: 'most of a warm commit is the time of the Git server' },
  'commit/rtt-30/warm-floor': { most: 2, why: 'the aim is 1.5: no round trip more than the protocol needs' },
  'commit/rtt-30/cold-floor': { most: 2, why: 'the aim is 1.5: no round trip more than the protocol needs' },
  'burst/10-on-1/time': { most: 1.4, why: 'ten at once are not slower than one after the other' },
  'burst/100-on-1/time': { most: 1, why: 'group commit: many commits in one push' },
  'burst/100-on-1/pushes': { most: 0.6, why: 'group commit: many commits in one push' },
  'burst/100-on-1/calls': { most: 1.3, why: 'a commit among many makes no more calls than one alone' },
  'burst/100-on-1/memory': { most: 2.5, why: 'who waits holds bytes, not a process' },
  'burst/1000-on-1/memory': { most: 1.8, why: 'boot.cjs lets V8 collect early' },
  'burst/10000-on-1/memory': {
    most: 2,
    why: 'the aim is 1.5: ten times as many wait, and little is kept of each',
  },
  'burst/100-on-10-from-10/time': { most: 0.9, why: 'branches and namespaces do not wait for each other' },
  'replicas/2-200-on-1': { most: 2.5, why: 'replicas race for one branch, and the loser reads again' },
  'replicas/8-800-on-1-by-a-broker': {
    most: 3,
    why: 'the aim: who lost a race gathers more before the next push',
  },
  'admission/mutate/p50': { most: 3.2, why: 'the decision and the stamp, without a call' },
  'admission/validate/p50': { most: 3.2, why: 'the decision, without a call' },
  'pull-requests/limits': { most: 0.8, why: 'a limit that was reached is remembered' },
  'pull-requests/floor': { most: 1.5, why: 'find, create, and little more, whatever the limit' },
}

/** What stands behind its bound, in sentences. */
export interface Verdict {
  readonly ids: readonly string[]
  readonly sentences: readonly string[]
}

/** Judges a run. A commit that was lost or made twice is behind every bound. */
export function judge(ratios: readonly Ratio[], { bursts, replicas }: Results): Verdict {
  const behind = ratios.filter(({ id, best }) => best > (BOUNDS[id]?.most ?? Infinity))
  const wrong = [...bursts, ...replicas].filter(({ lost, doubled }) => lost + doubled > 0)
  return {
    ids: behind.map(({ id }) => id),
    sentences: [
      ...behind.map(
        ({ id, title, ratio, baseline }) =>
          `${title}: ${ratio}x of ${baseline}, at most ${BOUNDS[id]?.most ?? ''}x (${BOUNDS[id]?.why ?? ''})`,
      ),
      ...wrong.map(
        ({ commits, branches, lost, doubled }) =>
          `${commits} GitCommits on ${branches} branches: ${lost} lost, ${doubled} made twice`,
      ),
    ],
  }
}
