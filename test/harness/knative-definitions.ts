import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Test } from 'tap'
import { parseAllDocuments } from 'yaml'
import { trustingTheMachine } from './authorities-env.ts'
import type { Missing } from './go-build.ts'
import type { ControlPlane } from './control-plane.ts'
import { waitFor } from './wait.ts'

/** Knative's own definitions of its kinds, in the sources of these Go modules, which go.sum would name by this sum. */
const MODULES = [
  {
    module: 'knative.dev/eventing@v0.50.0',
    sum: 'h1:4GSn7yyMLgpGUqU0vZjcyFKK0vSi3TtZXPVzb7HW7Ds=',
    files: ['apiserversource', 'broker', 'pingsource', 'trigger'].map(
      (name) => `config/core/resources/${name}.yaml`,
    ),
  },
  {
    module: 'knative.dev/serving@v0.50.0',
    sum: 'h1:9XUQq2yqUPN1YZUuGH6nF8IMvuumNvGXzCrSTYu44bA=',
    files: ['config/core/300-resources/service.yaml'],
  },
] as const

const DEADLINE_MS = 120_000
const PATH = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions'
const run = promisify(execFile)

/**
 * Serves Knative's kinds Broker, Trigger, Service, ApiServerSource and PingSource on the plane until the test ends, without
 * its webhooks. Go keeps the modules in its cache. False, and the test is skipped, where they cannot be had: without Go and
 * without a network.
 */
export async function hasKnative(t: Test, plane: ControlPlane): Promise<boolean> {
  return hasDefinitions(t, plane, { of: 'Knative', modules: MODULES })
}

/** Definitions of kinds in the sources of Go modules. */
export interface Definitions {
  /** Whose they are, for messages. */
  readonly of: string
  readonly modules: readonly {
    readonly module: string
    readonly sum: string
    readonly files: readonly string[]
  }[]
}

/** The same for other definitions. */
export async function hasDefinitions(
  t: Test,
  plane: ControlPlane,
  definitions: Definitions,
): Promise<boolean> {
  const served = await serve(plane, definitions)
  if ('missing' in served) {
    process.stderr.write(`SKIPPED: ${served.missing}\n`)
    t.pass(`the kinds of ${definitions.of}`, { skip: served.missing })
    return false
  }
  t.teardown(() => served.remove())
  return true
}

/** How the API server answers to these objects, without storing them. */
export function dryRun(plane: ControlPlane, text: string): ReturnType<ControlPlane['kubectl']> {
  return plane.kubectl(['apply', '--dry-run=server', '--validate=strict', '-f', '-'], {
    input: text,
    allowFailure: true,
  })
}

async function serve(
  plane: ControlPlane,
  { of, modules }: Definitions,
): Promise<{ readonly remove: () => Promise<void> } | Missing> {
  const definitions = await readDefinitions(modules).catch((error: unknown): Missing => ({
    missing: `The kinds of ${of} cannot be had: ${String(error)}`,
  }))
  if ('missing' in definitions) return definitions
  for (const definition of definitions)
    await waitFor('place for the kinds', () => isPlaced(plane, definition), DEADLINE_MS)
  const names = definitions.map(({ metadata }) => metadata.name)
  for (const name of names) await waitFor(`kind ${name}`, () => isServed(plane, name), DEADLINE_MS)
  return {
    async remove() {
      for (const name of names) await plane.api.need('DELETE', `${PATH}/${name}`)
      // Nothing of these kinds was stored, and the cleanup of the API server may take minutes on a busy machine.
      const none = ['--type=merge', '--patch={"metadata":{"finalizers":[]}}']
      await plane.kubectl(['patch', 'customresourcedefinitions', ...names, ...none], { allowFailure: true })
    },
  }
}

/** Whether it is stored now. Another process may serve the same kinds on a shared plane: it removes them at its end. */
async function isPlaced(plane: ControlPlane, definition: Definition): Promise<true | undefined> {
  const { status, body } = await plane.api.ask('POST', PATH, definition)
  if (status === 201) return true
  if (status === 409) return undefined
  throw new Error(`POST ${PATH} ended with ${status}: ${JSON.stringify(body)}`)
}

interface Definition {
  readonly metadata: { readonly name: string }
}

async function readDefinitions(modules: Definitions['modules']): Promise<readonly Definition[]> {
  const env = {
    ...trustingTheMachine(process.env),
    GOFLAGS: '',
    GOTOOLCHAIN: 'local',
    GONOSUMDB: 'knative.dev',
  }
  const found: Definition[] = []
  for (const { module, sum, files } of modules) {
    const { stdout } = await run('go', ['mod', 'download', '-json', module], { env, timeout: DEADLINE_MS })
    const { Dir, Sum } = JSON.parse(stdout) as { readonly Dir: string; readonly Sum: string }
    if (Sum !== sum) throw new Error(`${module} has the sum ${Sum}.`)
    for (const file of files) found.push(await readDefinition(join(Dir, file)))
  }
  return found
}

/** One version, as stored: the conversion needs Knative's webhook. */
async function readDefinition(file: string): Promise<Definition> {
  const [document] = parseAllDocuments(await readFile(file, 'utf8'))
  document?.deleteIn(['spec', 'conversion'])
  return document?.toJS() as Definition
}

async function isServed(plane: ControlPlane, name: string): Promise<true | undefined> {
  const { status } = (await plane.api.need('GET', `${PATH}/${name}`)) as {
    readonly status?: { readonly conditions?: readonly { readonly type: string; readonly status: string }[] }
  }
  const isEstablished = status?.conditions?.some(
    (condition) => condition.type === 'Established' && condition.status === 'True',
  )
  return isEstablished === true ? true : undefined
}
