'use strict'
// node boot.cjs dist/function.cjs: runs a bundle with V8's code cache, which halves the startup time.
// The cache file is next to the bundle and is named after Node's version. Without it, or if V8 rejects it, the bundle
// starts without a cache. `npm run build` makes it with COMMITLET_MAKE_CACHE=1 after the hot paths have run, because it
// contains only functions that are compiled by then.
const fs = require('node:fs')
const Module = require('node:module')
const path = require('node:path')
const v8 = require('node:v8')
const vm = require('node:vm')

const bundle = path.resolve(process.argv[2])
const cacheFile = `${bundle}.${process.version}.cache`
const cachedData = fs.existsSync(cacheFile) ? fs.readFileSync(cacheFile) : undefined
const script = new vm.Script(Module.wrap(fs.readFileSync(bundle, 'utf8')), {
  filename: bundle,
  cachedData,
  importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
})
/** Both the code cache and Node's own are taken under V8's usual options alone: these come when all is loaded. */
const STARTED_MS = 1_000

/**
 * By itself V8 first collects what is no longer used at some 140 MiB, and then whenever there is three times as much of it as
 * of what is: after 4,000 commits at once that is some 90 MiB more. It counts from the first collection on.
 */
function saveMemory() {
  v8.setFlagsFromString('--heap-growing-percent=60')
  v8.setFlagsFromString('--expose-gc')
  const collect = vm.runInNewContext('gc')
  void collect({ type: 'major', execution: 'async' })
}

if (process.env.COMMITLET_MAKE_CACHE === '1') {
  process.on('exit', () => fs.writeFileSync(cacheFile, script.createCachedData()))
}
const main = new Module(bundle)
main.filename = bundle
main.paths = Module._nodeModulePaths(path.dirname(bundle))
if (process.env.COMMITLET_MAKE_CACHE !== '1') setTimeout(saveMemory, STARTED_MS).unref()
script.runInThisContext()(main.exports, Module.createRequire(bundle), main, bundle, path.dirname(bundle))
