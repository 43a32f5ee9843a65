import t from 'tap'
import { heldMemory } from '../functions/container-memory.ts'

const MIB = 1024 * 1024
const SECOND = `anon ${100 * MIB}\nfile ${900 * MIB}\nkernel ${7 * MIB}\nshmem ${20 * MIB}\n`
const FIRST = `cache ${900 * MIB}\nrss ${1 * MIB}\nshmem ${2 * MIB}\ntotal_rss ${50 * MIB}\ntotal_shmem ${4 * MIB}\n`

t.test('what processes and files in memory hold counts, and not what was read from disks', async (t) => {
  const pod = { proc: { self: { cgroup: '0::/\n' } }, sys: { fs: { cgroup: { 'memory.stat': SECOND } } } }
  t.equal(heldMemory(t.testdir(pod)), 127, 'cgroup v2, in a container')
})

t.test('the cgroup of the process counts, of either version', async (t) => {
  const second = {
    proc: { self: { cgroup: '0::/pods/one\n' } },
    sys: { fs: { cgroup: { 'memory.stat': '', pods: { one: { 'memory.stat': SECOND } } } } },
  }
  t.equal(heldMemory(t.testdir(second)), 127)
  const first = {
    proc: { self: { cgroup: '5:cpu,cpuacct:/pods\n4:memory:/pods\n0::/\n' } },
    sys: { fs: { cgroup: { memory: { pods: { 'memory.stat': FIRST } } } } },
  }
  t.equal(heldMemory(t.testdir(first)), 54)
})

t.test(
  'a container whose cgroup is at the top finds its own, and without any nothing is known',
  async (t) => {
    const pod = {
      proc: { self: { cgroup: '4:memory:/kubepods/one\n' } },
      sys: { fs: { cgroup: { memory: { 'memory.stat': FIRST } } } },
    }
    t.equal(heldMemory(t.testdir(pod)), 54)
    t.equal(heldMemory(t.testdir({})), undefined)
  },
)
