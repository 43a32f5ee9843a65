import type { Test } from 'tap'
import type { Host } from '../../../functions/domain/repository/hosts.ts'
import type { Stage } from './stage.ts'

/** A rule for every host, with its own stage. */
export interface Case {
  readonly title: string
  /** Hosts in which this case is impossible. */
  readonly spares?: (host: Host) => boolean
  readonly run: (t: Test, stage: Stage) => Promise<void>
}
