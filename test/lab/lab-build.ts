import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findGo } from '../harness/control-plane-binaries.ts'
import { buildGoTools, findBuilt, type GoTools, type Missing, type Search } from '../harness/go-build.ts'

/** The programs of the lab. */
export interface LabPrograms {
  /** Folder of activator, autoscaler, controller, queue and webhook. */
  readonly knative: string
  readonly controllerManager: string
  readonly sources: Sources
}

/** Folders of Knative's modules, with the definitions of its objects. */
export interface Sources {
  readonly caching: string
  readonly networking: string
  readonly serving: string
}

const KNATIVE: GoTools = {
  module: import.meta.dirname,
  name: 'knative',
  packages: ['activator', 'autoscaler', 'controller', 'queue', 'webhook'].map(
    (name) => `knative.dev/serving/cmd/${name}`,
  ),
  programs: ['activator', 'autoscaler', 'controller', 'queue', 'webhook'],
  shown: (goMod) => `Knative Serving ${/knative\.dev\/serving (v\S+)/.exec(goMod)?.[1] ?? ''}`,
  minutes: 6,
  withoutGo: 'There is no Go to build Knative.',
  flags: () => ['-ldflags', '-s -w'],
}

const CONTROLLER_MANAGER: GoTools = {
  module: join(import.meta.dirname, '../controller-manager'),
  name: 'controller-manager',
  packages: ['k8s.io/kubernetes/cmd/kube-controller-manager'],
  programs: ['kube-controller-manager'],
  shown: (goMod) => `kube-controller-manager ${/k8s\.io\/kubernetes (v\S+)/.exec(goMod)?.[1] ?? ''}`,
  minutes: 3,
  withoutGo: 'There is no Go to build kube-controller-manager.',
  flags: () => ['-ldflags', '-s -w'],
}

const run = promisify(execFile)

/** Builds what is missing, and finds Knative's definitions in Go's cache of modules; a sentence where it cannot. */
export async function findLabPrograms(search: Search): Promise<LabPrograms | Missing> {
  const go = await findGo(search)
  const knative = await buildGoTools(KNATIVE, go, search)
  if (typeof knative !== 'string') return knative
  const manager = await buildGoTools(CONTROLLER_MANAGER, go, search)
  if (typeof manager !== 'string') return manager
  if (go === undefined) return { missing: 'There is no Go to find the definitions of Knative.' }
  return {
    knative,
    controllerManager: join(manager, 'kube-controller-manager'),
    sources: await sourcesBy(go),
  }
}

/** Whether nothing is left to be built. */
export async function isLabBuilt(env: Search['env']): Promise<boolean> {
  const found = await Promise.all([KNATIVE, CONTROLLER_MANAGER].map((tools) => findBuilt(tools, env)))
  return found.every((folder) => folder !== undefined)
}

async function sourcesBy(go: string): Promise<Sources> {
  const names = ['caching', 'networking', 'serving'].map((name) => `knative.dev/${name}`)
  await run(go, ['mod', 'download', ...names], { cwd: KNATIVE.module })
  const { stdout } = await run(go, ['list', '-m', '-f', '{{.Dir}}', ...names], { cwd: KNATIVE.module })
  const [caching = '', networking = '', serving = ''] = stdout.trim().split('\n')
  return { caching, networking, serving }
}
