import type { Burst } from '../burst/burst.ts'

/** Short, for the bounds. */
export function idOf({ commits, branches, namespaces, files, brokered }: Burst): string {
  const from = namespaces === 1 ? '' : `-from-${namespaces}`
  return `${commits}-on-${branches}${from}${files === 1 ? '-tiny' : ''}${brokered ? '-by-a-broker' : ''}`
}

/** For readers. */
export function titleOf({ commits, branches, namespaces, files, brokered }: Burst): string {
  const parts = [
    ...(branches === 1 ? [] : [`${branches} branches`]),
    ...(namespaces === 1 ? [] : [`${namespaces} namespaces`]),
    ...(brokered ? ['by a Broker'] : []),
    ...(files === 1 ? ['repository of one file'] : []),
  ]
  return [counted(commits, 'GitCommit'), ...parts].join(', ')
}

/** `1 file`, `10,000 files`. */
export function counted(count: number, noun: string): string {
  return `${count.toLocaleString('en')} ${noun}${count === 1 ? '' : 's'}`
}
