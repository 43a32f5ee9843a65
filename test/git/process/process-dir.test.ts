import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Writable } from 'node:stream'
import t from 'tap'
import { openProcessDir } from '../../../functions/git/process/process-dir.ts'
import { followTrust } from '../../../functions/net/trust.ts'
import { until } from '../stage.ts'

const tempDir = await mkdtemp(join(tmpdir(), 'commitlet-home-'))
t.teardown(() => rm(tempDir, { recursive: true, force: true, maxRetries: 5 }))

/** Without a CA_FILE. */
const UNTRUSTED = { trust: followTrust(undefined) }

const MODULE = join(import.meta.dirname, '../../../functions/git/process/process-dir.ts')

/** Another process that has opened its folder and goes on running. */
async function openElsewhere() {
  const script = `import { openProcessDir } from ${JSON.stringify(MODULE)}
    process.stdout.write((await openProcessDir(${JSON.stringify(tempDir)}, {})).folder)
    setInterval(() => undefined, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.teardown(() => child.kill('SIGKILL'))
  const [folder] = (await once(child.stdout, 'data')) as [Buffer]
  return { child, name: folder.toString().slice(tempDir.length + 1) }
}

t.test(
  'the folder of a killed process is removed when the next one opens its own, that of a running one stays',
  async (t) => {
    const [killed, living] = [await openElsewhere(), await openElsewhere()]
    await mkdir(join(tempDir, killed.name, 'batch-1', 'objects'), { recursive: true })
    killed.child.kill('SIGKILL')
    await once(killed.child, 'exit')
    t.ok((await readdir(tempDir)).includes(killed.name), 'it is left there')
    const { folder } = await openProcessDir(tempDir, UNTRUSTED)
    t.same((await readdir(tempDir)).sort(), [living.name, folder.slice(tempDir.length + 1)].sort())
  },
)

t.test('a later process with the same id is another one', async (t) => {
  const before = join(tempDir, `commitlet-${process.pid}-1-aaaaaa`)
  await mkdir(before)
  await openProcessDir(tempDir, UNTRUSTED)
  t.notOk((await readdir(tempDir)).includes(before.slice(tempDir.length + 1)))
})

t.test('a dead process whose parent has not waited for it is dead', async (t) => {
  const parent = spawn('sh', ['-c', 'cat <&3 & echo $!; exec sleep 60'], {
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
  })
  t.teardown(() => parent.kill('SIGKILL'))
  const [line] = (await once(parent.stdout!, 'data')) as [Buffer]
  const pid = line.toString().trim()
  // The shell itself would wait for it.
  await until('a parent that waits for nothing', async () => {
    return (await readFile(`/proc/${parent.pid}/comm`, 'utf8')) === 'sleep\n'
  })
  ;(parent.stdio[3] as Writable).end()
  const fields = await until('the end of the child', async () => {
    const stat = (await readFile(`/proc/${pid}/stat`, 'utf8')).split(' ')
    return stat[2] === 'Z' && stat
  })
  const name = `commitlet-${pid}-${fields[21] ?? ''}-aaaaaa`
  await mkdir(join(tempDir, name))
  await openProcessDir(tempDir, UNTRUSTED)
  t.notOk((await readdir(tempDir)).includes(name))
})

t.test('unrelated folders stay, and other folders of this process', async (t) => {
  const first = await openProcessDir(tempDir, UNTRUSTED)
  await mkdir(join(tempDir, 'commitlet-stage-1'))
  await openProcessDir(tempDir, UNTRUSTED)
  const left = await readdir(tempDir)
  t.ok(left.includes('commitlet-stage-1'))
  t.ok(left.includes(first.folder.slice(tempDir.length + 1)))
})
