import { registerHooks } from 'node:module'

const STAND_IN = new URL('small-lru-cache.ts', import.meta.url).href

/**
 * Programs that are imported from now on have small caches. The model starts one for each of its states, and keeps no
 * more than a few entries in any of them.
 */
export function keepCachesSmall(): void {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (specifier !== 'lru-cache' || context.parentURL === STAND_IN) return nextResolve(specifier, context)
      return { url: STAND_IN, format: 'module-typescript', shortCircuit: true }
    },
  })
}
