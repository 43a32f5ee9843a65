import type { WrittenPath } from '../repository/committed-path.ts'
import type { GitCommitSpec, PullRequestSpec } from '../spec/spec.ts'
import type { Draft } from '../schema/draft.ts'

/**
 * Every path that a resource writes, with the field that names it; paths that are missing or no text are left out. All
 * rules for paths, at apply and at the attempt, see the paths of this list, and the commit consists of them. A pull
 * request writes none: its API call changes no file.
 */
export function writtenPaths(spec: Draft<GitCommitSpec> | Draft<PullRequestSpec>): readonly WrittenPath[] {
  if ('files' in spec && spec.files)
    return spec.files.flatMap((file, i) => pathIn(`spec.files[${i}].path`, file?.path))
  return 'resourceRef' in spec ? pathIn('spec.resourceRef.path', spec.resourceRef?.path) : []
}

function pathIn(field: string, path: string | null | undefined): readonly WrittenPath[] {
  return typeof path === 'string' ? [{ field, path }] : []
}
