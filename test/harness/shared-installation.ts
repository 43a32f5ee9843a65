import root, { type TAP, type Test } from 'tap'
import type { Missing } from './go-build.ts'
import { startControlPlane } from './control-plane.ts'
import { install, type Installation } from './installation.ts'

let shared: Promise<Installation | Missing> | undefined

/**
 * Runs the tests as one subtest of the file, with the installation that all such files of this process share: it has the
 * default settings, starts with the first of them and ends with the process. Requests and log lines of the other files
 * are in it, too, so that a test looks only for those of its own namespaces; it neither stops a program nor measures its
 * memory. Without a control plane the tests are skipped, loudly.
 */
export function withCommitlet(
  t: TAP | Test,
  tests: (t: Test, commitlet: Installation) => Promise<void> | void,
): Promise<unknown> {
  return t.test('with a shared installation', async (t) => {
    const commitlet = await (shared ??= share())
    if ('missing' in commitlet) {
      process.stderr.write(`SKIPPED, no control plane: ${commitlet.missing}\n`)
      t.pass('a control plane', { skip: commitlet.missing })
      return
    }
    await tests(t, commitlet)
  })
}

async function share(): Promise<Installation | Missing> {
  const plane = await startControlPlane()
  if ('missing' in plane) return plane
  root.teardown(() => plane.stop())
  return install(root, plane)
}
