import { userInfo } from 'node:os'
import {
  openApiServer,
  ownNamespace,
  type ApiChoice,
  type ApiServer,
} from '../../functions/cluster/api-server.ts'
import { askAboutSelf, type Self } from '../../functions/cluster/access-review.ts'
import type { Cluster } from '../../functions/cluster/cluster.ts'
import { accountRefused } from '../../functions/cluster/calls/answer.ts'
import { connectCluster } from '../../functions/cluster/connect.ts'
import { Failure } from '../../functions/domain/failure.ts'
import { serviceAccount, type UserInfo } from '../../functions/domain/requester/user-info.ts'
import { ALLOWED_REPOSITORIES } from '../../functions/domain/resource/api-names.ts'
import { fileCluster } from '../input/file-cluster.ts'

/** How the cluster is reached, from the command line. */
export interface ClusterOptions extends ApiChoice {
  readonly namespace?: string | undefined
  readonly systemNamespace: string
}

/** A cluster, seen with the rights of whoever runs the command. */
export interface Connection {
  /** Undefined: there are only files. */
  readonly server: ApiServer | undefined
  readonly cluster: Cluster
  /** Of the command line, else of the context, else `default`. */
  readonly namespace: string
  readonly self: UserInfo
  /** Users whose rights could not be reviewed, so that they were taken for granted. */
  readonly unreviewed: Set<string>
  /** The service account of the function. */
  readonly account: UserInfo
  /** Whether this account may do that; undefined: it may not be asked. */
  readonly accountMay: (access: Parameters<Cluster['reviewAccess']>[1]) => Promise<boolean | undefined>
}

/** The service account of the function, as manifests/ names it. */
const ACCOUNT = 'commitlet-function'

/** Why the values of a Secret stay where they are, although whoever runs the command may read them. */
export const SENT_NOWHERE = `You may not create subjectaccessreviews, so it is not known whether the requester may \`get\` this Secret, and for who may only \`use\` it its annotation ${ALLOWED_REPOSITORIES} has to name the repository. It has none, so its values are sent nowhere; ask an operator to run this.`

/**
 * Connects with the kubeconfig, and asks who that is. Rights of others are reviewed where that is allowed, and otherwise
 * taken for granted, which `unreviewed` tells. For them no Secret is read that its requester might only `use`, and that
 * names no repositories: what they have written would get its values with the rights of whoever runs the command.
 * @throws Failure NetworkError, Timeout, ReferenceForbidden; WrongSetting without a kubeconfig
 */
export async function connect(options: ClusterOptions): Promise<Connection> {
  const server = openApiServer(options)
  const cluster = connectCluster(server)
  const own = askAboutSelf(server)
  const self = await own.whoAmI()
  const unreviewed = new Set<string>()
  const account = serviceAccount(options.systemNamespace, ACCOUNT)
  return {
    server,
    self,
    unreviewed,
    account,
    namespace: options.namespace ?? ownNamespace(options) ?? 'default',
    accountMay: (access) => cluster.reviewAccess(account, access).catch(undefinedIfRefused),
    cluster: {
      ...cluster,
      reviewAccess: reviewsBy({ cluster, self, own, unreviewed }),
      async readSecret(...of) {
        const secret = await cluster.readSecret(...of)
        if (unreviewed.size === 0 || secret.annotations[ALLOWED_REPOSITORIES] !== undefined) return secret
        throw accountRefused(SENT_NOWHERE)
      },
    },
  }
}

/** Without a cluster: whoever has the files may do everything with them. */
export function withoutCluster({ namespace = 'default', systemNamespace }: ClusterOptions): Connection {
  return {
    server: undefined,
    self: { username: userInfo().username },
    unreviewed: new Set(),
    account: serviceAccount(systemNamespace, ACCOUNT),
    namespace,
    accountMay: () => Promise.resolve(undefined),
    cluster: fileCluster({ objects: [], namespace }),
  }
}

function reviewsBy(reviewer: {
  readonly cluster: Cluster
  readonly self: UserInfo
  readonly own: Self
  readonly unreviewed: Set<string>
}): Cluster['reviewAccess'] {
  const { cluster, self, own, unreviewed } = reviewer
  return async function reviewAccess(user, access) {
    if (user.username === self.username) return own.mayI(access)
    const allowed = await cluster.reviewAccess(user, access).catch(undefinedIfRefused)
    if (allowed === undefined) unreviewed.add(user.username)
    return allowed ?? true
  }
}

function undefinedIfRefused(error: unknown): undefined {
  if (error instanceof Failure && error.accountRefused) return undefined
  throw error
}
