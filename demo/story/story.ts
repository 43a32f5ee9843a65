import type { Stage } from '../run.ts'
import { ACTS } from './acts.ts'
import { openStory } from './stage.ts'

/** The demo in five acts, without a cluster. Throws one sentence if something did not go as shown. */
export async function runStory(stage: Stage): Promise<undefined> {
  const { print } = stage
  print.line(
    'Commitlet: kubectl apply becomes a commit. Here without a cluster; webhook, function and Git are real.',
  )
  const story = await openStory(stage)
  for (const act of ACTS) await act(story)
}
