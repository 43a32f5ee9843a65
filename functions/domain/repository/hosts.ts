/** Details of a pull request that not every host has. */
export type Detail = 'labels' | 'reviewers' | 'assignees' | 'draft'

/** What is known about the software of a host without calling it. */
export interface Host {
  /** Value of `spec.provider`, and the name of the folder under providers/. */
  readonly name: string
  /** The name of other software with the same API. */
  readonly alike?: string
  /** The public host that users open in a browser. */
  readonly webHost?: string
  /** Other names of the public host, only for Git. */
  readonly gitHosts: readonly string[]
  /** Each `<tenant>.<domain>` is a public host of its own. */
  readonly tenantDomain?: string
  /** Hosts in the format of known_hosts, and their published keys; on port 443 the same services answer. */
  readonly sshNames?: string
  readonly sshKeys: readonly string[]
  /** User of the SSH addresses that the host shows, whoever logs in. */
  readonly sshUser: string
  /** User name to send with a token, for Git over HTTPS. */
  readonly tokenUsername: string
  /** User name for Git if the Secret has an e-mail address, which the API accepts with the same token. */
  readonly emailUsername?: string
  /** User name that stands for no user: the API gets only the token. */
  readonly nobodyUsername?: string
  /** Which user names the API accepts, if not all. */
  readonly apiUsername?: { readonly pattern: RegExp; readonly complaint: string }
  /** Added if the public host refuses the user name of a person: it may no longer accept this kind of password. */
  readonly passwordHint?: string
  /** API of the public host; `HOST` stands for the tenant's own. */
  readonly publicAPI: readonly string[]
  /** Suffixes of `providerConfig.baseURL` and, if there is one, `uploadURL`. */
  readonly apiSuffix?: string
  readonly uploadSuffix?: string
  /** The part of a web address between the address of a repository and the object name of a commit. */
  readonly commitPath: string
  readonly lacks: readonly Detail[]
  /** The number of segments in the path of a repository: owner and name, or groups of any depth before the name. */
  readonly repositoryPath: 'two' | 'two or more'
  /** The form of each segment of that path, if not any segment of an address. */
  readonly repositoryPart?: Form
  /** The head of a pull request may be the branch of a fork, written `owner:branch`. */
  readonly forks: boolean
  /** The form of user names, if they are not plain user names. */
  readonly person?: Form
  /** The form of labels, if they are not any text. */
  readonly label?: Form
  /** Its Apps log in with a token that the API issues for an installation. */
  readonly hasApps?: true
  /** Its API makes commits, which the host signs itself. */
  readonly signsCommits?: true
  /** How many requests the API of the public host allows a login in any hour, if its answers do not tell how many are left. */
  readonly requestsPerHour?: number
}

/** The form of a name, as a pattern and in words. */
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
    // https://docs.github.com/en/authentication/keeping-your-account-and-data-secure/githubs-ssh-key-fingerprints
    sshNames: 'github.com,[ssh.github.com]:443,ssh.github.com',
    sshKeys: [
      'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl',
      'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBEmKSENjQEezOmxkZMy7opKgwFB9nkt5YRrYMjNuG5N87uRgg6CLrbo5wAdT/y6v0mKV0U2w0WZ2YB/++Tpockg=',
      'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQCj7ndNxQowgcQnjshcLrqPEiiphnt+VTTvDP6mHBL9j1aNUkY4Ue1gvwnGLVlOhGeYrnZaMgRK6+PKCUXaDbC7qtbW8gIkhL7aGCsOr/C56SJMy/BCZfxd1nWzAOxSDPgVsmerOBYfNqltV9/hWCqBywINIR+5dIg6JTJ72pcEpEjcYgXkE2YEFXV1JHnsKgbLWNlhScqb2UmyRkQyytRLtL+38TGxkxCflmO+5Z8CSSNY7GidjMIZ7Q4zMjA2n1nGrlTDkzwDCsw+wqFPGQA179cnfGWOWRVruj16z6XyvxvjJwbz0wQZ75XK5tKSb7FNyeIEs4TT4jk+S4dhPeAUC5y+bDYirYgM4GC7uEnztnZyaVWQ7B381AK4Qdrwt51ZqExKbQpTUNn+EjqoTwvqNj4kqx5QUCI0ThS/YkOxJCXmPUWZbhjpCg56i+2aB6CmK2JGhn57K5mj0MNdBXA4/WnwH6XoPWJzK5Nyu2zB3nAZp+S5hpQs+p1vN1/wsjk=',
    ],
    sshUser: 'git',
    tokenUsername: 'x-access-token',
    publicAPI: ['https://api.HOST', 'https://uploads.HOST'],
    apiSuffix: '/api/v3',
    uploadSuffix: '/api/uploads',
    commitPath: '/commit/',
    lacks: [],
    repositoryPath: 'two',
    forks: true,
    hasApps: true,
    signsCommits: true,
  },
  {
    name: 'gitlab',
    webHost: 'gitlab.com',
    gitHosts: ['altssh.gitlab.com'],
    // https://docs.gitlab.com/user/gitlab_com/#ssh-known_hosts-entries
    sshNames: 'gitlab.com,[altssh.gitlab.com]:443,altssh.gitlab.com',
    sshKeys: [
      'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIAfuCHKVTjquxvt6CM6tdG4SLp1Btn/nOeHHE5UOzRdf',
      'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBFSMqzJeV9rUzU4kWitGjeR4PWSa29SPqJ1fVkhtj3Hw9xjLVXVYrU9QlYWrOLXBpQ6KWjbjTDTdDkoohFzgbEY=',
      'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABAQCsj2bNKTBSpIYDEGk9KxsGh3mySTRgMtXL583qmBpzeQ+jqCMRgBqB98u3z++J1sKlXHWfM9dyhSevkMwSbhoR8XIq/U0tCNyokEi/ueaBMCvbcTHhO7FcwzY92WK4Yt0aGROY5qX2UKSeOvuP4D6TPqKF1onrSzH9bx9XUf2lEdWT/ia1NEKjunUqu1xOB/StKDHMoX4/OKyIzuS0q/T1zOATthvasJFoPrAjkohTyaDUz2LN5JoH839hViyEG82yB+MjcFV5MU3N1l1QL3cVUCh93xSaua1N85qivl+siMkPGbO5xR/En4iEY6K2XPASUEMaieWVNTRCtJ4S8H+9',
    ],
    sshUser: 'git',
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
    // https://bitbucket.org/site/ssh
    sshNames: 'bitbucket.org,ssh.bitbucket.org,[altssh.bitbucket.org]:443,altssh.bitbucket.org',
    sshKeys: [
      'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIazEu89wgQZ4bqs3d63QSMzYVa0MuJ2e2gKTKqu+UUO',
      'ecdsa-sha2-nistp256 AAAAE2VjZHNhLXNoYTItbmlzdHAyNTYAAAAIbmlzdHAyNTYAAABBBPIQmuzMBuKdWeF4+a2sjSSpBK0iqitSQ+5BM9KhpexuGt20JpTVM7u5BDZngncgrqDMbWdxMWWOGtZ9UgbqgZE=',
      'ssh-rsa AAAAB3NzaC1yc2EAAAADAQABAAABgQDQeJzhupRu0u0cdegZIa8e86EG2qOCsIsD1Xw0xSeiPDlCr7kq97NLmMbpKTX6Esc30NuoqEEHCuc7yWtwp8dI76EEEB1VqY9QJq6vk+aySyboD5QF61I/1WeTwu+deCbgKMGbUijeXhtfbxSxm6JwGrXrhBdofTsbKRUsrN1WoNgUa8uqN1Vx6WAJw1JHPhglEGGHea6QICwJOAr/6mrui/oB7pkaWKHj3z7d1IC4KWLtY47elvjbaTlkN04Kc/5LFEirorGYVbt15kAUlqGM65pk6ZBxtaO3+30LVlORZkxOh+LKL/BvbZ/iRNhItLqNyieoQj/uh/7Iv4uyH/cV/0b4WDSd3DptigWq84lJubb9t/DnZlrJazxyDCulTmKdOR7vs9gMTo+uoIrPSb8ScTtvw65+odKAlBj59dhnVp9zd7QUojOpXlL62Aw56U4oO+FALuevvMjiWeavKhJqlR7i5n9srYcrNV7ttmDw7kf/97P5zauIhxcjX+xHv4M=',
    ],
    sshUser: 'git',
    // User names: https://support.atlassian.com/bitbucket-cloud/docs/using-access-tokens/ and …/using-api-tokens/
    tokenUsername: 'x-token-auth',
    emailUsername: 'x-bitbucket-api-token-auth',
    nobodyUsername: 'x-token-auth',
    apiUsername: {
      pattern: /@|^x-token-auth$/,
      complaint:
        "has a user name that Bitbucket's API does not accept; put the e-mail address of the Atlassian account there for an API token, or name only the key of an access token.",
    },
    // Since July 2026: Atlassian's notice "Bitbucket Cloud transitions to API tokens".
    passwordHint: 'Bitbucket no longer accepts app passwords, only API tokens and access tokens.',
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
      // User names are no longer accepted (Bitbucket Cloud's changes of 2019 to its API for the GDPR).
      pattern: /^(?:\{[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\}|\d{1,8}:[0-9a-f-]{36}|[0-9a-f]{24})$/i,
      expects: 'a UUID in braces or an account ID of Atlassian',
    },
    // https://support.atlassian.com/bitbucket-cloud/docs/api-request-limits/
    requestsPerHour: 1_000,
  },
  {
    name: 'gitea',
    alike: 'Forgejo',
    gitHosts: [],
    sshKeys: [],
    sshUser: 'git',
    tokenUsername: 'x-access-token',
    publicAPI: [],
    apiSuffix: '/api/v1',
    commitPath: '/commit/',
    lacks: [],
    repositoryPath: 'two',
    forks: false,
  },
]

/** User name to send with a token if the software of the host is not known. */
export const USUAL_TOKEN_USERNAME = 'x-access-token'

/** The names that `spec.provider` may have, for messages and descriptions. */
export const PROVIDER_NAMES = HOSTS.map(({ name, alike }) =>
  alike === undefined ? name : `${name} (also for ${alike})`,
).join(', ')

/** The row that `spec.provider` names. */
export function hostNamed(name: string): Host | undefined {
  return HOSTS.find((row) => row.name === name)
}
