import { createInterface } from 'node:readline'
import { startGitServer } from '../test/harness/git-server.ts'
import { fill } from './repository.ts'

/**
 * The Git server of the benchmarks, in a process of its own, so that its memory is not counted. Prints one line of
 * JSON, { caFile, small, large } with address and folder of a repository of one file and one of 10,000, and lives
 * until its standard input ends.
 */
const server = await startGitServer({ users: [{ password: process.env.TOKEN ?? '' }] })
const small = await server.createRepository('bench/small')
const large = await server.createRepository('bench/large', { empty: true })
await fill(large)
process.stdout.write(
  `${JSON.stringify({
    caFile: server.caFile,
    small: { name: 'small', title: 'repository of one file', url: small.url, path: small.path },
    large: { name: 'large', title: '10,000 files, 1,000 commits', url: large.url, path: large.path },
  })}\n`,
)
const input = createInterface({ input: process.stdin })
input.on('close', () => void server.close())
