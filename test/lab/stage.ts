import { cp, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startControlPlane, type ControlPlane } from '../harness/control-plane.ts'
import type { Missing } from '../harness/go-build.ts'
import { startGitServer, type GitServer } from '../harness/git-server.ts'
import type { GitRepository } from '../harness/git-repository.ts'
import { startLeashed } from '../harness/leash.ts'
import { TOKEN } from '../harness/team.ts'
import { installKnative } from './knative.ts'
import type { LabPrograms } from './lab-build.ts'
import { imagesOf } from './node/images.ts'
import { NODE_IP } from './node/network.ts'
import { startNode } from './node/node.ts'
import { forwarder } from './node/cluster-ips.ts'

const ROOT = join(import.meta.dirname, '../..')
/** What the examples commit to. */
export const EXAMPLE = { host: 'git.example.com', repository: 'acme/config' } as const

/** A cluster with Knative, and a Git server at the address that the examples name. */
export interface Stage {
  readonly plane: ControlPlane
  readonly git: GitServer
  readonly repository: GitRepository
}

/** Starts everything but Commitlet. `folder` ends with the lab. */
export async function openStage(
  programs: LabPrograms,
  folder: string,
  say: (line: string) => void,
): Promise<Stage | Missing> {
  const app = await makeApp(folder)
  const plane = await startControlPlane({ own: true, flags: [`--advertise-address=${NODE_IP}`] })
  if ('missing' in plane) return plane
  const names = [EXAMPLE.host, 'localhost']
  const git = await startGitServer({ users: [{ password: TOKEN }], certificate: { names } })
  const images = imagesOf({ knative: programs.knative, app })
  await startNode(plane, { folder, images, names: [`${NODE_IP} ${EXAMPLE.host}`] })
  forwarder(() => ({ host: '127.0.0.1', port: git.port })).listen(443, NODE_IP)
  startLeashed(
    programs.controllerManager,
    [`--kubeconfig=${plane.kubeconfig}`, '--leader-elect=false', '--secure-port=0'],
    join(folder, 'controller-manager.log'),
  )
  say('The API server, its controllers and the node run; installing Knative')
  await installKnative(plane, programs.sources)
  return { plane, git, repository: await git.createRepository(EXAMPLE.repository) }
}

/** What the image has in /app. */
async function makeApp(folder: string): Promise<string> {
  const app = join(folder, 'app')
  await mkdir(app, { recursive: true, mode: 0o755 })
  for (const name of ['boot.cjs', 'dist']) await cp(join(ROOT, name), join(app, name), { recursive: true })
  return app
}

/** The authority of the Git server, which both parts have to trust. */
export function authorityOf({ git }: Stage): Promise<string> {
  return readFile(git.caFile, 'utf8')
}
