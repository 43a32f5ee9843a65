/**
 * The output of kubectl, with everything that differs from run to run replaced by text of the same length: times, uids,
 * object names of Git, signatures, digests, ports, the namespace, resource versions; and ages by one age.
 */
export function steady(printed: string, namespace: string): string {
  return aged(printed)
    .replaceAll(namespace, 'team-01234567')
    .replace(/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '01234567-89ab-cdef-fedc-ba9876543210')
    .replace(/\b[0-9a-f]{64}\b/g, '0123456789abcdef'.repeat(4))
    .replace(/\b[0-9a-f]{40}\b/g, '0123456789abcdef0123456789abcdef01234567')
    .replace(/(?<!-)\b[0-9a-f]{12}\b/g, '0123456789ab')
    .replace(/( Version: +)[0-9a-f]{16}$/gm, '$10123456789abcdef')
    .replace(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g, '2030-01-02T03:04:05Z')
    .replace(/localhost:\d+/g, 'localhost:8443')
    .replace(/(Resource Version:\s+)\d+/g, '$11234')
    .replace(/ +$/gm, '')
}

/** In every table, the age column gets one width and, where it has a value, one value. */
function aged(printed: string): string {
  let column: { readonly start: number; readonly end: number } | undefined
  const lines = printed.split('\n').map((line) => {
    const header = /(?<before>^.*\S {2,})(?<age>AGE|Age)(?<gap> *)/.exec(line)?.groups
    if (header !== undefined) {
      const start = header['before']?.length ?? 0
      column = { start, end: start + 3 + (header['gap']?.length ?? 0) }
    }
    if (column === undefined) return line
    const { start, end } = column
    const cell = line.slice(start, end).trim()
    return line.slice(0, start) + (/^\d/.test(cell) ? '10s' : cell).padEnd(7) + line.slice(end)
  })
  return lines.join('\n')
}
