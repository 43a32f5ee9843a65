import { existsSync } from 'node:fs'
import { resolve } from 'node:path'
import type { OnLoadResult, OnResolveArgs, OnResolveResult, Plugin, PluginBuild } from 'esbuild'

const LAZY = 'lazy'
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
  return { contents: lines.join('\n'), ...(typeof resolveDir === 'string' ? { resolveDir } : {}) }
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

function exactly(names: readonly string[]): RegExp {
  return new RegExp(`^(${names.join('|').replaceAll(/[/.]/g, '\\$&')})$`)
}
