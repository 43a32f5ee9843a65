import type { Inspect } from '../../functions/providers/inspection.ts'

/** What asks the API of each host, by its row in the table of hosts. The bundler needs the literal paths. */
export const INSPECTIONS: Readonly<Record<string, () => Promise<{ readonly inspect: Inspect }>>> = {
  github: () => import('../../functions/providers/github/inspect.ts'),
  gitlab: () => import('../../functions/providers/gitlab/inspect.ts'),
  bitbucket: () => import('../../functions/providers/bitbucket/inspect.ts'),
  gitea: () => import('../../functions/providers/gitea/inspect.ts'),
}
