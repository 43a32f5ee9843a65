import { gitCommit } from '../../../test/harness/installation.ts'
import type { Attack } from '../attack.ts'
import { inLoops } from '../attack.ts'

const PATCH = { method: 'PATCH', contentType: 'application/merge-patch+json' } as const
/** Resources, each with a loop of its own. */
const RESOURCES = 16

/** Resources whose repository changes all the time: each change is a generation with an event, and ends the attempt before. */
export const specFlips: Attack = {
  name: 'spec-flips',
  secrets: ['git'],
  async run({ api, create, namespace }, signal) {
    let flips = 0
    const url = (port: number): string => `https://localhost:${port}/acme/shop.git`
    for (let i = 0; i < RESOURCES; i += 1) await create(gitCommit(`flip-${i}`, url(1)))
    await inLoops(RESOURCES, signal, async (loop) => {
      const path = `/apis/commitlet.dev/v1/namespaces/${namespace}/gitcommits/flip-${loop}`
      const body = { spec: { repository: url((flips % 2) + 1), message: `Flip ${flips}` } }
      if ((await api({ ...PATCH, path, body })).status === 200) flips += 1
    })
    return `${flips} generations of ${RESOURCES} resources`
  },
}
