import type { Workspace } from '../process/workspace.ts'

const HEADS = 'refs/heads/'

/**
 * Whether a fetch has brought another ref than this one, HEAD or a branch by its full name. Where it is missing, Git takes
 * one whose full name only ends with it (gitrevisions(7), "<refname>"), which anybody may create who may create any branch
 * or tag. FETCH_HEAD says which one it was (git-fmt-merge-msg(1)): kind and short name, or for HEAD the address alone.
 */
export async function isOtherFetched(workspace: Workspace, ref: string): Promise<boolean> {
  const [line = ''] = await workspace.readLines('FETCH_HEAD')
  const [, , note = ''] = line.split('\t')
  if (note === '') return false
  if (ref.startsWith(HEADS)) return !note.startsWith(`branch '${ref.slice(HEADS.length)}' of `)
  return /^(?:[a-z -]+ )?'/.test(note)
}
