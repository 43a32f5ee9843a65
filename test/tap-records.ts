import { registerHooks } from 'node:module'
import { timeProcess } from './times.ts'

const IMPORT = `--import=${import.meta.url}`

/** The NODE_OPTIONS of tap and of the processes of the tests, in which this module is loaded before tap's own. */
export function withFewRecords(options: string | undefined): string {
  return [options ?? '', IMPORT].join(' ').trim()
}

// tap keeps the text, the lines and the source maps of every file that a process loads, for its coverage, and loads
// itself into every child: 1.5 CPU seconds and 200 MB for a process that loads the packages. A larger process takes
// longer to fork, too. Where lines are not counted, nothing is recorded; where they are, this module is not loaded.
if (/\.test\.ts$/.test(process.argv[1] ?? '')) {
  const options = process.env['NODE_OPTIONS']?.replace(IMPORT, '').trim() ?? ''
  if (options === '') delete process.env['NODE_OPTIONS']
  else process.env['NODE_OPTIONS'] = options
  process.env['_TAPJS_PROCESSINFO_EXCLUDE_'] = '/./'
  process.setSourceMapsEnabled(false)
  leaveChildrenAlone()
  followNoPromises()
  timeProcess()
}

/** tap's hook on new processes finds itself installed already (process-on-spawn, index.js). */
function leaveChildrenAlone(): void {
  const installed = { version: 1, listeners: [], unwrap: () => undefined }
  Object.assign(globalThis, { [Symbol.for('process-on-spawn@*:singletonId')]: installed })
}

/** tap gets the domains of tap-domain.ts, which follow no promises. */
function followNoPromises(): void {
  registerHooks({
    resolve(specifier, context, nextResolve) {
      if (specifier !== 'async-hook-domain') return nextResolve(specifier, context)
      const { href: url } = new URL('tap-domain.ts', import.meta.url)
      return { url, format: 'module-typescript', shortCircuit: true }
    },
  })
}
