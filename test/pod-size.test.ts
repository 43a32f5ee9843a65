import { existsSync } from 'node:fs'
import { totalmem } from 'node:os'
import t from 'tap'
import { WrongSetting } from '../functions/domain/settings.ts'
import { fetchWarning, memoryLimit, podMemory, readPodSize, requireRoom } from '../functions/pod-size.ts'

const GIB = 1024 ** 3

t.test('the limit of the container counts, or the memory of the machine if there is none', async (t) => {
  t.equal(memoryLimit(2 * GIB, 24 * GIB), 2 * GIB)
  t.equal(memoryLimit(0, 24 * GIB), 24 * GIB, 'libuv knows no limit')
  t.equal(memoryLimit(2 ** 64, 24 * GIB), 24 * GIB, 'cgroup v1 has a number for "no limit"')
})

t.test('this machine has room', async (t) => {
  const size = readPodSize(t.testdir())
  t.ok(size.memoryMiB > 256 && size.memoryMiB <= totalmem() / 1024 ** 2)
  t.ok(size.diskMiB > 32)
})

t.test('a sixteenth of the memory stays free, as far as it is known what is held', async (t) => {
  const held = podMemory({ memoryMiB: 2048 }, () => 1948)
  t.same([held.freeMiB(), held.leastMiB], [100, 128])
  t.equal(podMemory({ memoryMiB: 2048 }, () => undefined).freeMiB(), 2048)
})

t.test('a folder in memory is known', { skip: !existsSync('/dev/shm') }, async (t) => {
  t.equal(readPodSize('/dev/shm').diskIsMemory, true)
})

t.test('too little room ends the start with a sentence', async (t) => {
  const room = { memoryMiB: 2048, diskMiB: 1024, diskIsMemory: true }
  requireRoom(room, '/tmp')
  t.throws(
    () => requireRoom({ ...room, memoryMiB: 128 }, '/tmp'),
    new WrongSetting(
      'This container has 128 MiB of memory, but Commitlet needs at least 256; raise its memory limit.',
    ),
  )
  t.throws(() => requireRoom({ ...room, diskMiB: 16 }, '/tmp'), { message: /^TMPDIR is "\/tmp".* 16 MiB/ })
})

t.test('a FETCH_LIMIT that the pod cannot hold is warned of', async (t) => {
  t.equal(fetchWarning(256, 256), undefined)
  t.match(fetchWarning(1024, 256), /^FETCH_LIMIT is 1024, but .* 256 MiB$/)
})
