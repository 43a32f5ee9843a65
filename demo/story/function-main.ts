import { makeLeftovers } from '../leftovers.ts'
import { startFunction } from '../parts.ts'
import type { FunctionStart } from './function-process.ts'
import { parentsCluster } from './remote-cluster.ts'

/** The function in a process of its own, which can be killed: its argument is a FunctionStart as JSON. */
const { site, port, aheadMs }: FunctionStart = JSON.parse(process.argv[2] ?? '{}')
// It must not outlive the demo.
process.once('disconnect', () => process.exit(1))
const cluster = parentsCluster(process, aheadMs)
const url = await startFunction({ cluster, site, port, leftovers: makeLeftovers() })
process.send?.({ url })
