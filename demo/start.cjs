'use strict'
// `npm run demo`. In JavaScript that every Node since 8 understands: it says what this machine lacks before TypeScript is loaded.

const LEAST = [22, 19]
/** Runs the demo in a container, by sh as by PowerShell. It works on a copy, so that node_modules stays as it is. */
const CONTAINER =
  'docker run --rm -it -v "${PWD}:/src:ro" node:24 sh -c "cp -r /src /demo && cd /demo && npm ci && npm run demo"'

/** One sentence about what the machine lacks, and what to do; undefined: nothing. */
function lackOf(platform, version) {
  if (platform !== 'linux') {
    const name = { darwin: 'macOS', win32: 'Windows' }[platform] || platform
    return `The demo needs Linux, and this is ${name}; run it in a container, from this folder: ${CONTAINER}`
  }
  const [major, minor] = version.split('.').map(Number)
  if (major > LEAST[0] || (major === LEAST[0] && minor >= LEAST[1])) return undefined
  return `The demo needs Node ${LEAST.join('.')} or newer, but this is ${version}; install a newer one, or run it in a container, from this folder: ${CONTAINER}`
}

module.exports = { lackOf, CONTAINER }

if (require.main === module) {
  const lack = lackOf(process.platform, process.versions.node)
  if (lack === undefined) import('./main.ts')
  else {
    process.stderr.write(`${lack}\n`)
    process.exitCode = 1
  }
}
