import type { Test } from 'tap'
import type { Host } from '../../../functions/domain/repository/hosts.ts'
import type { Stage } from './stage.ts'

/** What every host has to keep, over a stage of its own. */
export interface Case {
  readonly title: string
  /** Hosts that cannot come into this case. */
  readonly spares?: (host: Host) => boolean
  readonly run: (t: Test, stage: Stage) => Promise<void>
}
