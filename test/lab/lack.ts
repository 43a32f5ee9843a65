import { execFileSync } from 'node:child_process'

/** What the machine lacks for the lab, as one sentence. */
export function lackOf(): string | undefined {
  if (process.platform !== 'linux') return 'The lab needs Linux, for its network namespaces.'
  if (process.getuid?.() !== 0) return 'The lab needs root, for its network namespaces; run it with sudo.'
  for (const [program, source] of [
    ['ip', 'iproute2'],
    ['unshare', 'util-linux'],
    ['setpriv', 'util-linux'],
    ['openssl', 'openssl'],
    ['git', 'git'],
    ['kubectl', 'kubectl'],
  ]) {
    try {
      execFileSync('sh', ['-c', 'command -v "$1"', 'sh', program ?? ''], { stdio: 'ignore' })
    } catch {
      return `The lab needs ${String(program)}; install the package ${String(source)}.`
    }
  }
  try {
    execFileSync('unshare', ['--net', '--mount', '--pid', '--fork', 'true'], { stdio: 'ignore' })
  } catch {
    return 'The lab needs namespaces of its own, which this machine denies; run it where CAP_SYS_ADMIN is given.'
  }
  return undefined
}
