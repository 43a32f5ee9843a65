import type { Variant } from './options.ts'
import { readOptions, USAGE } from './options.ts'

/** Called by start.cjs: reads the flags, runs the demo, and returns the exit code. */
async function main(): Promise<number> {
  const options = readOptions(process.argv.slice(2))
  if ('wrong' in options) {
    process.stderr.write(`${options.wrong}\n`)
    return 2
  }
  if (options.run === 'help') {
    process.stdout.write(USAGE)
    return 0
  }
  const { code, complaint } = await runDemo(options)
  if (complaint !== undefined) process.stderr.write(`${complaint}\n`)
  return code
}

interface Ending {
  readonly code: number
  readonly complaint?: string
}

async function runDemo(variant: Variant): Promise<Ending> {
  try {
    // Imported only now: these files cannot be loaded without the packages.
    const [{ changedExample }, { run }] = await Promise.all([import('./examples.ts'), import('./run.ts')])
    const changed = variant.run === 'story' ? undefined : await changedExample()
    if (changed !== undefined) return { code: 2, complaint: changed }
    const complaint = await run(variant)
    return complaint === undefined ? { code: 0 } : { code: 1, complaint }
  } catch (error) {
    return { code: 1, complaint: complaintOf(error) }
  }
}

function complaintOf(error: unknown): string {
  if (isMissingPackage(error)) return 'The packages are not installed; run npm ci and start the demo again.'
  return error instanceof Error ? error.message : String(error)
}

function isMissingPackage(error: unknown): boolean {
  return error instanceof Error && error.message.startsWith('Cannot find package')
}

main().then((code) => {
  // An open socket may keep the process alive; the output has to be written before the exit.
  process.stdout.write('', () => process.exit(code))
})
