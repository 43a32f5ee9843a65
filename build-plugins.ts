import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import { dirname } from 'node:path'
import standalone from 'ajv/dist/standalone/index.js'
import { boundedFirst } from './functions/domain/schema/bounds.ts'
import { compiler } from './functions/domain/schema/compiler.ts'
import { GITCOMMIT_SPEC } from './functions/domain/crd/git-commit.ts'
import { PULLREQUEST_SPEC } from './functions/domain/crd/pull-request.ts'
import type { OnLoadResult, OnResolveArgs, OnResolveResult, Plugin, PluginBuild } from 'esbuild'

const LAZY = 'lazy'
const PARTS = 'parts'
const ASSERT = 'assert'
/** The generated module and the rewritten resolution import by the real name: these are left alone. */
const DONE = { done: true }

/**
 * Loads the named packages when one of their exports is first read rather than when the bundle starts. A start that does
 * not need them neither runs them nor has them in its code cache. A class that extends one of theirs loads it at once.
 */
export function lazyPackages(names: readonly string[]): Plugin {
  return {
    name: 'lazy-packages',
    setup(build) {
      build.onResolve({ filter: exactly(names) }, ({ path, importer, kind, namespace, resolveDir }) => {
        const eager = namespace === LAZY || kind === 'dynamic-import'
        // A package loads its own parts by the same name, once it is loaded itself.
        const own = !path.startsWith('node:') && importer.includes(`/node_modules/${path}/`)
        return eager || own ? undefined : { path, namespace: LAZY, pluginData: resolveDir }
      })
      build.onLoad({ filter: /.*/, namespace: LAZY }, ({ path, pluginData }) => gettersOf(path, pluginData))
    },
  }
}

async function gettersOf(path: string, resolveDir: unknown): Promise<OnLoadResult> {
  const loaded: unknown = await import(path)
  if (typeof loaded !== 'object' || loaded === null) throw new Error(`${path} has no exports.`)
  const names = Object.keys(loaded).filter((name) => !['module.exports', '__esModule'].includes(name))
  const name = JSON.stringify(path)
  const lines = [
    `function load() { return require(${name}) }`,
    'function loadDefault() { const loaded = load(); return loaded.__esModule ? loaded.default : loaded }',
    'Object.defineProperty(exports, "__esModule", { value: true })',
    ...names.map((key) => {
      const value = key === 'default' ? 'loadDefault()' : `load()[${JSON.stringify(key)}]`
      return `Object.defineProperty(exports, ${JSON.stringify(key)}, { enumerable: true, get: () => ${value} })`
    }),
  ]
  return { contents: lines.join('\n'), ...resolvedFrom(resolveDir) }
}

/**
 * Leaves out the modules of a package whose exports are not used, although the package does not say that its modules
 * have no side effects.
 */
export function usedPartsOf(name: string): Plugin {
  return {
    name: 'used-parts',
    setup(build) {
      build.onResolve({ filter: exactly([name]) }, (args) => withoutSideEffects(build, args))
      build.onResolve({ filter: /^\.{1,2}\/.*\.js$/ }, (args) => {
        if (!args.importer.includes(`/node_modules/${name}/`)) return undefined
        // The paths of an ES module are whole, and build.resolve reads the folders again for each of thousands.
        const path = resolve(args.resolveDir, args.path)
        return existsSync(path) ? { path, sideEffects: false } : undefined
      })
    },
  }
}

async function withoutSideEffects(
  build: PluginBuild,
  { path, pluginData, kind, importer, resolveDir }: OnResolveArgs,
): Promise<OnResolveResult | undefined> {
  if (pluginData === DONE) return undefined
  const found = await build.resolve(path, { kind, importer, resolveDir, pluginData: DONE })
  return { ...found, sideEffects: false }
}

/**
 * Bundles these exports of a lazy package, each from its own module (`parts`, below the package), instead of the module
 * that loads them all; `before` runs first. The other exports are undefined.
 */
export function lazyPartsOf(
  name: string,
  { parts, before }: { readonly parts: Readonly<Record<string, string>>; readonly before: string },
): Plugin {
  const exported = Object.entries(parts).map(([key, path]) => `exports.${key} = require('${name}/${path}')`)
  return {
    name: 'lazy-parts',
    setup(build) {
      build.onResolve({ filter: exactly([name]), namespace: LAZY }, ({ resolveDir }) => ({
        path: name,
        namespace: PARTS,
        pluginData: resolveDir,
      }))
      build.onLoad({ filter: exactly([name]), namespace: PARTS }, ({ pluginData }) => ({
        contents: [before, ...exported].join('\n'),
        ...resolvedFrom(pluginData),
      }))
    },
  }
}

/**
 * Has asserts of packages that fail say so without the source. Node would read and parse the line for its message, once for each that
 * fails: in a bundle 50 ms of 800 KB, whenever a server sends what a client does not expect.
 */
export function plainAsserts(): Plugin {
  return {
    name: 'plain-asserts',
    setup(build) {
      build.onResolve({ filter: /^(node:)?assert$/ }, ({ namespace }) =>
        namespace === ASSERT ? undefined : { path: 'assert', namespace: ASSERT },
      )
      build.onLoad({ filter: /.*/, namespace: ASSERT }, () => ({ contents: ASSERT_TEXT }))
    },
  }
}

const ASSERT_TEXT = `
const real = require('node:assert')
function plain(parts) {
  function assert(value, message) {
    if (value) return
    if (message instanceof Error) throw message
    const text = message ?? 'What was asserted does not hold.'
    throw new real.AssertionError({ message: text, actual: value, expected: true, operator: '==', stackStartFn: assert })
  }
  return Object.assign(assert, parts, { ok: assert })
}
module.exports = Object.assign(plain(real), { strict: plain(real.strict) })
`

/** Puts the compiled validators into a bundle, which then needs neither ajv nor the 60 ms and 8 MB of the compilation. */
export function compiledValidators(): Plugin {
  return {
    name: 'compiled-validators',
    setup(build) {
      build.onLoad({ filter: /[\\/]domain[\\/]schema[\\/]validators\.ts$/ }, ({ path }) => ({
        contents: validatorsText(),
        loader: 'js',
        resolveDir: dirname(path),
      }))
    },
  }
}

function validatorsText(): string {
  const ajv = compiler({ source: true, esm: true })
    .addSchema(boundedFirst(GITCOMMIT_SPEC), 'gitCommit')
    .addSchema(boundedFirst(PULLREQUEST_SPEC), 'pullRequest')
  return [
    standalone.default(ajv, { gitCommit: 'gitCommit', pullRequest: 'pullRequest' }),
    'export const gitCommitSpecValidator = () => gitCommit',
    'export const pullRequestSpecValidator = () => pullRequest',
  ].join('\n')
}

function resolvedFrom(folder: unknown): Pick<OnLoadResult, 'resolveDir'> {
  return typeof folder === 'string' ? { resolveDir: folder } : {}
}

function exactly(names: readonly string[]): RegExp {
  return new RegExp(`^(${names.join('|').replaceAll(/[/.]/g, '\\$&')})$`)
}
