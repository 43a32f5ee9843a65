/** Milliseconds of CPU that this process has used: a busy machine does not change what a piece of work takes of it. */
export function cpuTime(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1000
}
