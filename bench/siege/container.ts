import fs from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'

/**
 * Loaded into a besieged program before its own code: lets it believe that it is alone in a container of so many MiB. Without
 * that it would divide the memory of the whole machine, and give up sessions for what the API server and the attackers hold.
 */
const LIMIT = 'COMMITLET_SIEGE_MIB'
/** A look at all processes below takes some milliseconds. */
const KEPT_MS = 90

const readReally = fs.readFileSync
let kept = { at: -Infinity, text: '' }

function contain(limitMiB: number): void {
  process.constrainedMemory = () => limitMiB * 1024 * 1024
  const read = (...args: Parameters<typeof readReally>): string | Buffer =>
    String(args[0]).endsWith('/memory.stat') ? memoryStat() : readReally(...args)
  fs.readFileSync = read as typeof readReally
  syncBuiltinESMExports()
}

/** As the cgroup of the container would have it: what this process and all below it hold. */
function memoryStat(): string {
  const now = performance.now()
  if (now - kept.at > KEPT_MS) {
    const kib = below(process.pid).reduce((sum, pid) => sum + anonymousKiB(pid), 0)
    kept = { at: now, text: `total_rss ${kib * 1024}\ntotal_shmem 0\n` }
  }
  return kept.text
}

function below(pid: number): readonly number[] {
  const threads = `/proc/${pid}/task`
  const children = entriesOf(threads).flatMap((thread) =>
    textOf(`${threads}/${thread}/children`)
      .split(' ')
      .filter((child) => child.trim() !== ''),
  )
  return [pid, ...children.flatMap((child) => below(Number(child)))]
}

function anonymousKiB(pid: number): number {
  return Number(/RssAnon:\s+(\d+)/.exec(textOf(`/proc/${pid}/status`))?.[1] ?? 0)
}

// A process may have ended meanwhile.
function entriesOf(folder: string): readonly string[] {
  try {
    return fs.readdirSync(folder)
  } catch {
    return []
  }
}

function textOf(file: string): string {
  try {
    return readReally(file, 'utf8')
  } catch {
    return ''
  }
}

const limit = process.env[LIMIT]
if (limit !== undefined) contain(Number(limit))
