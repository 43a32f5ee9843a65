import t from 'tap'
import type { Test } from 'tap'
import { GITEA } from '../../harness/hosts/gitea.ts'
import { startPort } from '../port-stage.ts'
import type { PortStage } from '../port-stage.ts'

/** A test with its own stand-in: Gitea with acme/shop. */
export function test(title: string, run: (t: Test, stage: PortStage) => Promise<void>): void {
  t.test(title, async (t) => {
    const stage = await startPort(t, { dialect: GITEA, name: 'gitea' })
    await run(t, { ...stage, lines: () => stage.lines().map((line) => line.replace('/repos/acme/shop', '')) })
  })
}
