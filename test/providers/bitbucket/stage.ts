import t from 'tap'
import type { Test } from 'tap'
import { BITBUCKET } from '../../harness/hosts/bitbucket.ts'
import { startPort } from '../port-stage.ts'
import type { PortStage } from '../port-stage.ts'

/** Two users that the stand-in knows: by UUID, and by account ID. */
export const [DEV, OPS] = [
  '{11111111-2222-3333-4444-555555555555}',
  '712020:66666666-7777-8888-9999-000000000000',
]
/** Three users that it does not know. */
export const STRANGERS = ['a', 'b', 'c'].map((sign) => `{99999999-9999-9999-9999-99999999999${sign}}`)

/** Bitbucket with one repository. */
export interface Stage extends PortStage {
  /** The number of write requests so far. */
  writes(): number
}

/** A test with its own stand-in. */
export function test(
  title: string,
  run: (t: Test, stage: Stage) => Promise<void>,
  uuids?: readonly string[],
): void {
  t.test(title, async (t) => {
    const people = [DEV, OPS]
    const stage = await startPort(t, {
      dialect: BITBUCKET,
      name: 'bitbucket',
      people,
      ...(uuids && { uuids }),
    })
    const writes = (): number => stage.host.seen.filter(({ method }) => method !== 'GET').length
    await run(t, { ...stage, writes })
  })
}
