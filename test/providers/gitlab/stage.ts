import type { Test } from 'tap'
import { GITLAB } from '../../harness/hosts/gitlab.ts'
import { startPort } from '../port-stage.ts'
import type { PortStage, Standing } from '../port-stage.ts'

/** GitLab with one project, acme/shop at /api/v4 where nothing else is said. */
export function startGitLab(
  t: Test,
  options: Partial<Pick<Standing, 'dialect' | 'repository'>> = {},
): Promise<PortStage> {
  return startPort(t, { dialect: GITLAB, ...options, name: 'gitlab' })
}
