import { DEFAULT_PORTS } from './address.ts'
import type { RepositoryAddress } from './address.ts'

/** Details of a pull request that not every host has. */
export type Detail = 'labels' | 'reviewers' | 'assignees' | 'draft'

/** What is known of the software of a host without calling it. */
export interface Host {
  /** Value of `spec.provider`, and the name of the file under providers/. */
  readonly name: string
  /** Other software with the same API, as its users call it. */
  readonly alike?: string
  /** The public host that people open in a browser. */
  readonly webHost?: string
  /** Other names of the public host, for Git alone. */
  readonly gitHosts: readonly string[]
  /** Each `<tenant>.<domain>` is a public host of its own. */
  readonly tenantDomain?: string
  /** User name beside a token, for Git over HTTPS. */
  readonly tokenUsername: string
  /** API of the public host; `HOST` stands for the tenant's own. */
  readonly publicAPI: readonly string[]
  /** Ends of the path of `providerConfig.baseURL` and, where there is one, `uploadURL`. */
  readonly apiSuffix?: string
  readonly uploadSuffix?: string
  /** Between the address of a repository and the object name of a commit, on the web. */
  readonly commitPath: string
  readonly lacks: readonly Detail[]
  /** How many parts the path of a repository has: owner and name, or groups of any depth before the name. */
  readonly repositoryPath: 'two' | 'two or more'
  /** How each part of that path is written, where that is not as any address has it. */
  readonly repositoryPart?: Form
  /** The head of a pull request may be the branch of a fork, written `owner:branch`. */
  readonly forks: boolean
  /** How people are named, where that is not a plain user name. */
  readonly person?: Form
  /** How labels are named, where that is not any text. */
  readonly label?: Form
}

/** How a name has to be written, and that in words. */
export interface Form {
  readonly pattern: RegExp
  readonly expects: string
}

/**
 * A row per provider. Sources: the providers' documentation of access tokens for Git over HTTPS, of their REST
 * APIs' addresses and of GitHub Enterprise Cloud with data residency (ghe.com).
 */
export const HOSTS: readonly Host[] = [
  {
    name: 'github',
    webHost: 'github.com',
    gitHosts: ['ssh.github.com'],
    tenantDomain: 'ghe.com',
    tokenUsername: 'x-access-token',
    publicAPI: ['https://api.HOST', 'https://uploads.HOST'],
    apiSuffix: '/api/v3',
    uploadSuffix: '/api/uploads',
    commitPath: '/commit/',
    lacks: [],
    repositoryPath: 'two',
    forks: true,
  },
  {
    name: 'gitlab',
    webHost: 'gitlab.com',
    gitHosts: ['altssh.gitlab.com'],
    tokenUsername: 'oauth2',
    publicAPI: ['https://HOST/api/v4'],
    apiSuffix: '/api/v4',
    commitPath: '/-/commit/',
    lacks: [],
    repositoryPath: 'two or more',
    forks: false,
    // Its API takes several labels as one text (https://docs.gitlab.com/api/merge_requests/).
    label: { pattern: /^[^,]*$/, expects: 'names without a comma' },
  },
  {
    name: 'bitbucket',
    webHost: 'bitbucket.org',
    gitHosts: ['ssh.bitbucket.org', 'altssh.bitbucket.org'],
    tokenUsername: 'x-token-auth',
    publicAPI: ['https://api.HOST/2.0'],
    commitPath: '/commits/',
    lacks: ['labels', 'assignees'],
    repositoryPath: 'two',
    // Its API takes a UUID in braces for a slug (https://developer.atlassian.com/cloud/bitbucket/rest/intro/).
    repositoryPart: {
      pattern: /^(?:[^{]|\{[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}$)/i,
      expects: 'slugs, or UUIDs in braces',
    },
    forks: false,
    person: {
      // User names are no longer taken (Bitbucket Cloud's changes of 2019 to its API for the GDPR).
      pattern: /^(?:\{[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}|\d{1,8}:[0-9a-f-]{36}|[0-9a-f]{24})$/i,
      expects: 'a UUID in braces or an account ID of Atlassian',
    },
  },
  {
    name: 'gitea',
    alike: 'Forgejo',
    gitHosts: [],
    tokenUsername: 'x-access-token',
    publicAPI: [],
    apiSuffix: '/api/v1',
    commitPath: '/commit/',
    lacks: [],
    repositoryPath: 'two',
    forks: false,
  },
]

/** The row of a public host, by its exact name: a host that only looks like one is none. */
export function publicHost(host: string): Host | undefined {
  return HOSTS.find((row) => webHostOf(row, host) !== undefined)
}

/** The row that `spec.provider` names. */
export function hostNamed(name: string): Host | undefined {
  return HOSTS.find((row) => row.name === name)
}

/** The row for a repository: by its host, else by `spec.provider`, else none. */
export function hostOf(address: RepositoryAddress, provider: string | undefined): Host | undefined {
  return publicHost(address.host) ?? (provider === undefined ? undefined : hostNamed(provider))
}

/** `baseURL` and, where it has one, `uploadURL` of a public host; undefined for any other host. */
export function publicAPI(host: string): readonly string[] | undefined {
  const row = publicHost(host)
  const web = row === undefined ? undefined : webHostOf(row, host)
  return web === undefined ? undefined : row?.publicAPI.map((url) => url.replace('HOST', web))
}

/** The web address of a commit; undefined where the software of the host is not known. */
export function commitURL(
  address: RepositoryAddress,
  provider: string | undefined,
  sha: string,
): string | undefined {
  const row = hostOf(address, provider)
  if (row === undefined) return undefined
  const { scheme, host, port } = webPlace(address, row)
  const place = host.includes(':') ? `[${host}]` : host
  const written = port === DEFAULT_PORTS[scheme] ? place : `${place}:${port}`
  return `${scheme}://${written}/${address.segments.join('/')}${row.commitPath}${sha}`
}

interface WebPlace {
  readonly scheme: 'https' | 'http'
  readonly host: string
  readonly port: number
}

// The port of SSH says nothing of that of the web.
function webPlace(address: RepositoryAddress, row: Host): WebPlace {
  const host = webHostOf(row, address.host) ?? address.host
  const { scheme, port } = address
  return scheme === 'ssh' ? { scheme: 'https', host, port: DEFAULT_PORTS.https } : { scheme, host, port }
}

function webHostOf(row: Host, host: string): string | undefined {
  if (row.webHost !== undefined && [row.webHost, ...row.gitHosts].includes(host)) return row.webHost
  if (row.tenantDomain === undefined) return undefined
  const tenant = host.endsWith(`.${row.tenantDomain}`) ? host.slice(0, -row.tenantDomain.length - 1) : ''
  return /^[a-z0-9-]+$/.test(tenant) ? host : undefined
}
