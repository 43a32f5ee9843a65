import { setTimeout as pause } from 'node:timers/promises'
import fc from '../../harness/fast-check.ts'
import t from 'tap'
import { sized } from '../../harness/sample.ts'
import { installVirtualTime, passTime } from '../../harness/virtual-time.ts'
import { randomOf } from '../objects/random.ts'
import { memoryRepository, type MemoryRepository } from '../writer/memory-remote.ts'
import { drawnPod, type Scene } from './drawn-pod.ts'
import { drawnResource, EDITED, type Resource } from './drawn-resource.ts'

/** Two pods push for resources of several namespaces with one login, beside another writer. Returns what should not be. */
async function runSchedule(seed: number): Promise<readonly string[]> {
  const random = randomOf(seed)
  const repository = memoryRepository({ 'README.md': 'x', [EDITED]: '{}' })
  const isDense = random.chance(0.3)
  const scene: Scene = { random, repository, faults: random.chance(0.3) ? 0.3 : 1, isDense, late: [] }
  const pods = [drawnPod(scene), drawnPod(scene)] as const
  const [resources] = await Promise.all([
    Promise.all(
      Array.from({ length: (isDense ? 6 : 2) + random.int(9) }, (_, index) =>
        drawnResource(scene, pods, index),
      ),
    ),
    writeBeside(scene),
  ])
  for (const pod of pods) await pod.idle()
  await Promise.all(scene.late)
  const left = repository.opened === 0 ? [] : ['a session is left']
  return [...left, ...resources.flatMap((resource) => complaintsAbout(resource, repository))]
}

async function writeBeside({ random, repository }: Scene): Promise<void> {
  for (let left = random.int(4); left > 0; left -= 1) {
    await pause(random.int(8_000))
    repository.commit({ 'other.md': String(left) }, { message: `other ${left}` })
  }
}

/** One commit for each generation, never an old one after a new one, and what was Succeeded is at the branch. */
function complaintsAbout(
  { name, ownPath, landed, committed, complaints }: Resource,
  repository: MemoryRepository,
): readonly string[] {
  const own = repository.log().filter((subject) => subject.startsWith(`${name} `))
  const generations = own.map((subject) => Number(subject.split(' ')[1])).toReversed()
  const isInOrder = generations.every((one, i) => i === 0 || one > (generations[i - 1] ?? 0))
  const lost = committed.filter((generation) => !generations.includes(generation))
  const isLast = landed.generation > 0 && generations.every((one) => one <= landed.generation)
  const text = ownPath === undefined ? landed.text : textAt(ownPath, name, repository)
  return [
    ...complaints,
    ...lost.map((generation) => `the commit of ${name} ${generation} is lost`),
    ...(isInOrder ? [] : [`${name} has commits for ${generations.join(', ')}`]),
    ...(isLast && text !== landed.text ? [`${landed.text} has landed, and there is ${String(text)}`] : []),
  ]
}

function textAt(path: string, name: string, repository: MemoryRepository): string | undefined {
  const text = repository.text(path)
  if (path !== EDITED) return text
  const fields: Readonly<Record<string, string>> = JSON.parse(text ?? '{}')
  return fields[name]
}

t.test(
  'in drawn schedules of two pods with one login no commit is lost, made twice or old over new',
  async (t) => {
    t.teardown(installVirtualTime())
    const property = fc.asyncProperty(fc.integer(), async (seed) => {
      const complaints = await passTime(() => runSchedule(seed))
      if (complaints.length > 0) throw new Error(complaints.join('; '))
    })
    await fc.assert(property, { numRuns: sized(20, 500) })
    t.pass('no schedule was found that breaks it')
  },
)
