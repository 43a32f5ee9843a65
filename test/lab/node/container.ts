import { spawn, type ChildProcess } from 'node:child_process'
import { openSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Images } from './images.ts'
import type { Container, Pod } from './objects.ts'
import type { Volumes } from './volumes.ts'

const NOBODY = 65_532

// The file system of the machine, with what is mounted into it and without a way to write to it.
const SCRIPT = `set -e
base=$1; user=$2; group=$3; groups=$4; access=$5; shift 5
mount -t overlay overlay -o "lowerdir=/,upperdir=$base/upper,workdir=$base/work" "$base/root"
mount --rbind /dev "$base/root/dev"
mount --bind /proc "$base/root/proc"
while [ "$1" != -- ]; do mount --bind "$1" "$base/root$2"; shift 2; done
shift
mount -o "remount,$access" "$base/root"
cd "$base/root"
exec chroot . setpriv "--reuid=$user" "--regid=$group" "--groups=$groups" --no-new-privs --bounding-set=-all \\
  sh -c 'cd /app; exec "$@"' sh "$@"`

/** What a container runs with. */
export interface Surroundings {
  readonly pod: Pod
  readonly container: Container
  /** Its network namespace. */
  readonly network: string
  readonly env: Readonly<Record<string, string>>
  readonly folder: string
  readonly volumes: Volumes
  readonly hosts: string
  readonly images: Images
}

/** Starts the program of the image, with a read-only root and as the user that the pod names. */
export async function startContainer(given: Surroundings): Promise<ChildProcess> {
  const { pod, container, images, folder, volumes } = given
  const base = join(folder, container.name)
  const { command, binds } = images.of(container)
  const { volumeMounts = [], securityContext = {} } = container
  const mounts = [...volumeMounts, ...volumes.account].map(
    ({ name, mountPath }) => [volumes.folderOf(name), mountPath.replace(/^\/var\/run\//, '/run/')] as const,
  )
  const all = [[given.hosts, '/etc/hosts'] as const, ...binds, ...mounts]
  for (const name of ['upper', 'work', 'root', 'upper/app'])
    await mkdir(join(base, name), { recursive: true, mode: 0o755 })
  for (const [, target] of all.slice(1)) await mkdir(join(base, 'upper', target), { recursive: true })
  const whole = { ...pod.spec.securityContext, ...securityContext }
  const { runAsUser = NOBODY, runAsGroup = runAsUser, fsGroup = runAsGroup } = whole
  const access = whole.readOnlyRootFilesystem === true ? 'ro' : 'rw'
  const numbers = [runAsUser, runAsGroup, fsGroup].map(String)
  const words = ['sh', '-c', SCRIPT, 'sh', base, ...numbers, access, ...all.flat(), '--', ...command]
  const log = openSync(join(dirname(folder), `${pod.metadata.name}.${container.name}.log`), 'a')
  return spawn('ip', ['netns', 'exec', given.network, 'unshare', '--mount', ...words], {
    env: { ...given.env },
    stdio: ['ignore', log, log],
  })
}
