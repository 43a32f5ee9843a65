import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')

/** Collects the garbage of this process at once, for tests of what stays in memory. */
export const collect: () => void = runInNewContext('gc')
