import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'yaml'

/** The project's folder. */
export const ROOT = join(import.meta.dirname, '../..')

/** Names and what is set for them: permissions, variables, inputs. */
export type Values = Readonly<Record<string, string>>

/** A step of a job. */
export interface Step {
  readonly id?: string
  readonly uses?: string
  readonly run?: string
  readonly env?: Values
  readonly with?: Values
}

/** A job of a workflow; one that `uses` another workflow has no steps. */
export interface Job {
  readonly uses?: string
  readonly needs?: string | readonly string[]
  readonly permissions?: Values
  readonly env?: Values
  readonly 'timeout-minutes'?: number
  readonly steps?: readonly Step[]
  readonly strategy?: { readonly matrix: { readonly include: readonly Values[] } }
}

/** A workflow of GitHub Actions. */
export interface Workflow {
  readonly on: Readonly<Record<string, unknown>>
  readonly permissions?: Values
  readonly jobs: Readonly<Record<string, Job>>
}

/** The workflows by their paths, each with its text. */
export function readWorkflows(): ReadonlyMap<string, { readonly text: string; readonly workflow: Workflow }> {
  const files = globSync('.github/workflows/*.yaml', { cwd: ROOT }).toSorted()
  return new Map(
    files.map((file) => {
      const text = readFileSync(join(ROOT, file), 'utf8')
      return [file, { text, workflow: parse(text) as Workflow }]
    }),
  )
}

/** The jobs of the release, by their names. */
export function releaseJobs(): Workflow['jobs'] {
  const release = readWorkflows().get('.github/workflows/release.yaml')
  if (release === undefined) throw new Error('there is no workflow of the release')
  return release.workflow.jobs
}

/** What is wrong with a script of a workflow whose variables are these, as far as text shows: nothing if it is empty. */
export function complaintsAbout(run: string, env: Values): readonly string[] {
  const secret = Object.keys(env).filter((name) => /\b(secrets|github\.token)\b/.test(env[name] ?? ''))
  // Nothing of what a secret holds gets to the log: it is given to a program's input, or names a user.
  const given = run.replace(/--password-stdin <<<"\$\w+"|--username "\$\w+"/g, '')
  return [
    ...(run.includes('${{') ? ['an expression is put into the script; put it into env'] : []),
    ...(/\bset -\w*x|\b(printenv|xtrace)\b|^\s*(env|export|set)\s*$/m.test(run)
      ? ['all variables are printed']
      : []),
    ...secret
      .filter((name) => new RegExp(`\\$\\{?${name}\\b`).test(given))
      .map((name) => `${name} may be printed`),
  ]
}
