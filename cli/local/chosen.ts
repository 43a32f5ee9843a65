import type { Config } from '../../functions/config.ts'
import { WrongSetting } from '../../functions/domain/settings.ts'
import type { Kind } from '../../functions/domain/resource/api-names.ts'
import { listOption, textOption, type Call } from '../call.ts'
import { fileCluster } from '../input/file-cluster.ts'
import { readObjects, type FileObject } from '../input/objects.ts'
import { localConfig, readOperatorSettings } from '../input/settings.ts'
import { namedBy } from '../input/words.ts'
import { UsageError } from '../terminal/exit-codes.ts'
import { connect, withoutCluster, type ClusterOptions, type Connection } from './connection.ts'
import { asApplied, isResource, readStored, requireNames, type LocalResource } from './resource.ts'

/** What a command is about: the objects of files, over those of the cluster, or one of the cluster. */
export interface Chosen {
  readonly kind: Kind | 'Secret'
  readonly namespace: string
  readonly name: string
  /** Its kind and name, for the heading. */
  readonly about: string
  readonly from: 'file' | 'cluster'
  /** With the objects of the files, where there are any. */
  readonly connection: Connection
  readonly config: Config
  /** Whether the operator's settings could be read. */
  readonly knowsSettings: boolean
  /** Reads the GitCommit or the PullRequest. Throws a Failure. */
  readonly resource: () => Promise<LocalResource>
}

/** What the options of every command with a cluster say. */
export function clusterOptions(call: Call): ClusterOptions {
  return {
    kubeconfig: textOption(call, 'kubeconfig'),
    context: textOption(call, 'context'),
    namespace: textOption(call, 'namespace'),
    systemNamespace: textOption(call, 'systemNamespace') ?? 'commitlet-system',
  }
}

/**
 * The objects that the command line names, in their order. A Secret of a file is one only if nothing else is in the files:
 * otherwise it is there for the others.
 * @throws UsageError, WrongSetting, and the Failure of a cluster that cannot be reached
 */
export async function chosenBy(call: Call): Promise<readonly Chosen[]> {
  const files = listOption(call, 'filename')
  if (files.length > 0 === call.words.length > 0)
    throw new UsageError('Name one object, such as gitcommit/shop, or files with -f; not both.')
  const objects = await readObjects(files, call.terminal.readInput)
  const connection = await connectFor(call, files.length > 0)
  const { systemNamespace } = clusterOptions(call)
  const operators = connection.server && (await readOperatorSettings(connection.server, systemNamespace))
  const config = localConfig(call.terminal.env, operators ?? {})
  const common = { config, knowsSettings: operators !== undefined }
  if (files.length === 0) return [stored(call, connection, common)]
  const { namespace } = connection
  const cluster = fileCluster({
    objects,
    namespace,
    ...(connection.server ? { under: connection.cluster } : {}),
  })
  const wanted = wantedOf(objects)
  for (const object of wanted) {
    requireNamed(object, textOption(call, 'namespace'))
    requireNames(object, namespace)
  }
  if (wanted.length > 0) return wanted.map((object) => applied(object, { ...connection, cluster }, common))
  throw new UsageError(`${files.join(', ')} has no GitCommit, PullRequest or Secret.`)
}

/** Files can be looked at without a cluster. */
async function connectFor(call: Call, hasFiles: boolean): Promise<Connection> {
  const options = clusterOptions(call)
  try {
    return await connect(options)
  } catch (error) {
    const isChosen = options.kubeconfig !== undefined || options.context !== undefined
    if (!(error instanceof WrongSetting) || !hasFiles || isChosen) throw error
    return withoutCluster(options)
  }
}

function wantedOf(objects: readonly FileObject[]): readonly FileObject[] {
  const resources = objects.filter(isResource)
  return resources.length > 0 ? resources : objects.filter(({ kind }) => kind === 'Secret')
}

/** As kubectl: whoever names a namespace does not expect that a file has the Secrets of another one used. */
function requireNamed({ kind, name, namespace, source }: FileObject, named: string | undefined): void {
  if (named === undefined || namespace === undefined || namespace === named) return
  throw new UsageError(
    `${kind} ${name} is in the namespace ${namespace}, and not in ${named}, as ${source} says; name that one with -n, or leave -n out.`,
  )
}

type Common = Pick<Chosen, 'config' | 'knowsSettings'>

function stored(call: Call, connection: Connection, common: Common): Chosen {
  const { kind, name } = namedBy(call.words)
  const { namespace, cluster } = connection
  const about = `${kind} ${namespace}/${name}`
  const resource = async (): Promise<LocalResource> =>
    readStored(cluster, { kind: requireResource(kind), namespace, name })
  return { kind, namespace, name, about, from: 'cluster', connection, ...common, resource }
}

function applied(object: FileObject, connection: Connection, common: Common): Chosen {
  const { name, source } = object
  const namespace = object.namespace ?? connection.namespace
  const kind = object.kind === 'Secret' ? object.kind : kindOf(object)
  const { delegation } = common.config
  const applying = { user: connection.self, namespace, delegation, uid: NOT_STORED }
  const resource = (): Promise<LocalResource> => Promise.resolve(asApplied(object, applying))
  const about = `${kind} ${namespace}/${name} of ${source}`
  return { kind, namespace, name, about, from: 'file', connection, ...common, resource }
}

/** The uid of what is not stored: no uid of an API server is like it. */
const NOT_STORED = '00000000-0000-0000-0000-000000000000'

function kindOf({ kind }: FileObject): Kind {
  return kind === 'PullRequest' ? kind : 'GitCommit'
}

function requireResource(kind: Chosen['kind']): Kind {
  if (kind !== 'Secret') return kind
  throw new UsageError(
    'This command is about GitCommits and PullRequests; write gitcommit/NAME or pullrequest/NAME.',
  )
}
