import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { gitCommit } from '../../test/harness/installation.ts'
import { samplePath } from '../remote/sample-repository.ts'
import type { ServedRepository } from '../remote/servers.ts'
import type { BurstPlan } from './burst.ts'
import type { BurstSite } from './site.ts'

/** Where a burst takes place. */
export interface Scene {
  readonly site: BurstSite
  readonly repository: ServedRepository
  readonly branches: readonly string[]
  readonly plan: BurstPlan
}

/** Applies at a time, as many users and pipelines do. */
const APPLYING = 32
/** The time that a burst may take: for each GitCommit of it, and at least and at most. */
const PATIENCE_EACH_MS = 150
const PATIENCE_MS = { least: 30_000, most: 400_000 }

/** What one burst took: seconds until the last was Ready, and milliseconds of each from stored. */
export interface Round {
  readonly seconds: number
  readonly times: readonly number[]
  readonly toRef: readonly number[]
}

/** Applies all GitCommits, their names beginning with `round`, and waits until all are Ready, or patience ends. */
export async function once(scene: Scene, round: string): Promise<Round> {
  const { site, plan } = scene
  const names = Array.from({ length: plan.commits }, (_, index) => `${round}-${index}`)
  const landing = site.landings.of(names, patienceFor(plan))
  const began = performance.now()
  const stored = new Map<string, number>()
  const todo = names.map((name, index) => ({ name, index }))
  async function applyNext(): Promise<void> {
    for (let next = todo.shift(); next !== undefined; next = todo.shift())
      stored.set(next.name, await apply(scene, next))
  }
  await Promise.all(Array.from({ length: APPLYING }, applyNext))
  const landed = await landing
  const times = names.flatMap((name) => {
    const at = landed.get(name)
    return at === undefined ? [] : [Math.max(0, at - (stored.get(name) ?? 0))]
  })
  const seconds = (Math.max(...landed.values(), began) - began) / 1000
  const toRef = plan.commits === 1 ? [await refMovedAfter(scene, stored.get(names[0] ?? '') ?? 0)] : []
  return { seconds, times, toRef }
}

function patienceFor({ commits }: BurstPlan): number {
  return Math.min(PATIENCE_MS.most, PATIENCE_MS.least + commits * PATIENCE_EACH_MS)
}

/** Applies one GitCommit; milliseconds from stored to Ready. */
export async function single(scene: Scene, name: string, branch: string): Promise<number> {
  const landing = scene.site.landings.of([name], PATIENCE_MS.least)
  const stored = await apply(scene, { name, index: 0 }, branch)
  const landed = (await landing).get(name)
  if (landed === undefined) throw new Error(`${name} did not become Ready: ${await statusOf(scene, name)}`)
  return landed - stored
}

async function statusOf({ site }: Scene, name: string): Promise<string> {
  return JSON.stringify((await site.teams[0]?.get(name))?.status)
}

/** Returns when it was stored. The index decides about namespace, branch and path. */
async function apply(
  { site, repository, branches, plan }: Scene,
  { name, index }: { readonly name: string; readonly index: number },
  branch = branches[index % branches.length],
): Promise<number> {
  const team = site.teams[namespaceOf(index, plan)]
  const path = samplePath(index, name)
  const resourceRef = { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path }
  const body = gitCommit(name, repository.url, { branch, resourceRef })
  await site.plane.api.need('POST', collectionOf(team?.namespace ?? ''), body)
  return performance.now()
}

/** Where there are enough branches, each belongs to one namespace: otherwise all namespaces write to all branches. */
function namespaceOf(index: number, { branches, namespaces }: BurstPlan): number {
  return (branches < namespaces ? index : index % branches) % namespaces
}

function collectionOf(namespace: string): string {
  return `/apis/commitlet.dev/v1/namespaces/${namespace}/gitcommits`
}

async function refMovedAfter({ repository, branches }: Scene, stored: number): Promise<number> {
  const { mtimeMs } = await stat(join(repository.path, 'refs/heads', branches[0] ?? ''))
  return mtimeMs - (performance.timeOrigin + stored)
}

/** The next burst begins without what a sweep or a watch would find of this one. */
export async function clear({ site, plan }: Scene): Promise<void> {
  for (const { namespace } of site.teams.slice(0, plan.namespaces))
    await site.plane.api.ask('DELETE', collectionOf(namespace))
}
