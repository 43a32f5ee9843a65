import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import t from 'tap'

const { lackOf, CONTAINER } = createRequire(import.meta.url)('../../demo/start.cjs')

for (const [platform, version, lack] of [
  ['linux', '22.19.0', undefined],
  ['linux', '24.0.0', undefined],
  ['linux', '22.18.9', /^The demo needs Node 22\.19 or newer, but this is 22\.18\.9; /],
  ['linux', '8.17.0', /^The demo needs Node 22\.19 or newer, but this is 8\.17\.0; /],
  ['darwin', '24.0.0', /^The demo needs Linux, and this is macOS; /],
  ['win32', '24.0.0', /^The demo needs Linux, and this is Windows; /],
  ['freebsd', '24.0.0', /^The demo needs Linux, and this is freebsd; /],
] as const) {
  t.test(
    `Node ${version} on ${platform} lacks ${lack === undefined ? 'nothing' : 'something'}`,
    async (t) => {
      const said = lackOf(platform, version)
      if (lack === undefined) t.equal(said, undefined)
      else {
        t.match(said, lack)
        t.ok(said.endsWith(CONTAINER), 'and one command does it anyway')
      }
    },
  )
}

t.test('the README has the same command', async (t) => {
  t.match(readFileSync(join(import.meta.dirname, '../../README.md'), 'utf8'), `\n${CONTAINER}\n`)
})
