import { run } from './commands/run.ts'
import { openTerminal } from './terminal/terminal.ts'
import { versionOfRelease } from './version.ts'

/** The program `commitlet`, also as `kubectl commitlet`. */
async function main(): Promise<void> {
  process.exitCode = await run(process.argv.slice(2), openTerminal(process), versionOfRelease())
  // Kept connections to the API server would hold the process for seconds; standard output is written first.
  await new Promise((resolve) => process.stdout.write('', resolve))
  process.exit()
}

void main()
