import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'

t.test('where the lab is not built, CI goes on without it, and says so', async (t) => {
  const { status, stderr } = spawnSync(
    process.execPath,
    [join(import.meta.dirname, 'main.ts'), '--if-built'],
    {
      encoding: 'utf8',
      env: { ...process.env, HOME: t.testdir(), XDG_CACHE_HOME: t.testdirName },
    },
  )
  t.equal(status, 0, stderr)
  t.match(stderr, /^SKIPPED: The lab (is not built on this machine|needs .+)\.$/m)
})
