import { createInterface } from 'node:readline'
import { dirname } from 'node:path'
import { startGitServer } from '../../test/harness/git-server.ts'
import { startSSHServer } from '../../test/harness/ssh-server.ts'
import { fill } from './sample-repository.ts'

/**
 * The Git servers of the benchmark, in their own process so that their memory is not counted. Prints one line of JSON,
 * { caFile, small, large, ssh }: address and folder of a repository with one file and of one with 10,000, and what a
 * client needs to reach the latter over SSH. Runs until its standard input ends.
 */
const server = await startGitServer({ users: [{ password: process.env.TOKEN ?? '' }] })
const small = await server.createRepository('bench/small')
const large = await server.createRepository('bench/large', { empty: true })
await fill(large)
const ssh = await startSSHServer({ root: dirname(dirname(large.path)) })
process.stdout.write(
  `${JSON.stringify({
    caFile: server.caFile,
    small: { name: 'small', title: 'repository of one file', url: small.url, path: small.path },
    large: { name: 'large', title: '10,000 files, 1,000 commits', url: large.url, path: large.path },
    ssh: { url: `${ssh.url}/bench/large.git`, knownHosts: ssh.knownHosts, privateKey: ssh.writer.privateKey },
  })}\n`,
)
const input = createInterface({ input: process.stdin })
input.on('close', () => void Promise.all([server.close(), ssh.close()]))
