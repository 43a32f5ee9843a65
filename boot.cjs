'use strict'
// node boot.cjs dist/function.cjs: runs a bundle through V8's code cache, which saves half of the start.
// The cache file lies beside the bundle and is named after Node's version; without it, or where V8 rejects it,
// the bundle starts as it would by itself. `npm run build` makes it with COMMITLET_MAKE_CACHE=1, after the hot
// paths have run: only functions that are compiled by then are in it.
const fs = require('node:fs')
const Module = require('node:module')
const path = require('node:path')
const vm = require('node:vm')

const bundle = path.resolve(process.argv[2])
const cacheFile = `${bundle}.${process.version}.cache`
const cachedData = fs.existsSync(cacheFile) ? fs.readFileSync(cacheFile) : undefined
const script = new vm.Script(Module.wrap(fs.readFileSync(bundle, 'utf8')), {
  filename: bundle,
  cachedData,
  importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
})
if (process.env.COMMITLET_MAKE_CACHE === '1') {
  process.on('exit', () => fs.writeFileSync(cacheFile, script.createCachedData()))
}
const main = new Module(bundle)
main.filename = bundle
main.paths = Module._nodeModulePaths(path.dirname(bundle))
script.runInThisContext()(main.exports, Module.createRequire(bundle), main, bundle, path.dirname(bundle))
