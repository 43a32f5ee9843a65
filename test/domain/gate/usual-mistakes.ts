import { isRecord } from '../../../functions/domain/json-value.ts'
import { SPEC } from '../fixtures/gitcommit.ts'

/** What users write by mistake, and what `kubectl apply` answers. */
export interface Mistake {
  /** Fields of the spec that replace those of a valid one; undefined: the field is left out. */
  readonly spec: Readonly<Record<string, unknown>>
  readonly kind?: 'GitCommit' | 'PullRequest'
  /** How the documentation shows it, if not as the fields themselves. */
  readonly written?: string
  /** The whole sentence. */
  readonly says: string
  /** It is applied, and the sentence is a warning. */
  readonly warning?: true
}

const REFERENCE = SPEC.resourceRef
const PULL_REQUEST = {
  repository: 'https://github.com/acme/shop.git',
  baseBranch: 'main',
  headBranch: 'settings',
  title: 'New settings',
  credentials: SPEC.credentials,
}

export const MISTAKES: readonly Mistake[] = [
  {
    spec: { repository: 'https://GitHub.com/acme/shop' },
    says: 'spec.repository names no host that can be used; write https://github.com/acme/shop instead.',
  },
  {
    spec: { repository: 'https://github.com/acme/shop/' },
    says: 'spec.repository has a path with an empty part, ".", ".." or a character other than letters, digits and "._~{}+-"; write https://github.com/acme/shop instead.',
  },
  {
    spec: { repository: 'https://github.com/acme/shop/tree/main' },
    says: 'spec.repository goes on after the path of a repository, as the address of a page does; write https://github.com/acme/shop instead.',
  },
  {
    spec: { repository: 'https://gitlab.com/acme/web/shop/-/tree/main' },
    says: 'spec.repository goes on after the path of a repository, as the address of a page does; write https://gitlab.com/acme/web/shop instead.',
  },
  {
    spec: { repository: 'https://git.example.com/acme/shop/src/branch/main' },
    says: 'spec.repository looks like the address of a page of a repository; if it is one, write https://git.example.com/acme/shop instead.',
    warning: true,
  },
  {
    spec: { repository: 'https://github.com/acme/shop?tab=readme' },
    says: 'spec.repository contains "?"; write https://github.com/acme/shop instead.',
  },
  {
    spec: { repository: 'github.com/acme/shop' },
    says: 'spec.repository is not an address of a repository; write https://github.com/acme/shop instead.',
  },
  {
    spec: { repository: 'github.com:acme/shop.git' },
    says: 'spec.repository is not an address of a repository; write git@github.com:acme/shop.git instead.',
  },
  {
    spec: { repository: 'ssh://git@github.com:acme/shop.git' },
    says: 'spec.repository names no host that can be used; write git@github.com:acme/shop.git instead.',
  },
  {
    spec: { repository: 'ssh://github.com/acme/shop.git' },
    says: 'spec.repository does not name the SSH user, and nothing else, before the host; write ssh://git@github.com/acme/shop.git instead.',
  },
  {
    spec: { repository: 'git@github.com:/acme/shop.git' },
    says: 'spec.repository has a path with an empty part, ".", ".." or a character other than letters, digits and "._~{}+-"; write ssh://git@github.com/acme/shop.git instead.',
  },
  {
    spec: { repository: 'git://github.com/acme/shop.git' },
    says: 'spec.repository begins with another scheme than https:// or ssh://; write https://github.com/acme/shop.git instead.',
  },
  {
    spec: { repository: 'http://git.example.com/acme/shop.git' },
    says: 'spec.repository begins with http://, which is not encrypted; write https:// instead.',
  },
  {
    spec: { repository: 'https://git.example.com:443/acme/shop.git' },
    says: 'spec.repository is not written in its plain form; write https://git.example.com/acme/shop.git instead.',
  },
  {
    spec: { repository: 'https://acme@dev.azure.com/acme/shop/_git/config' },
    says: 'spec.repository has a user name or a password before the host, which belong into the Secret of spec.credentials; write https://dev.azure.com/acme/shop/_git/config instead.',
  },
  {
    spec: { repository: 'https://dev.azure.com/acme/my%20shop/_git/config' },
    says: 'spec.repository contains "%"; rename what has a space or the like in its name, or write its ID where the host takes that, as Azure DevOps does for projects.',
  },
  {
    spec: { repository: 'https://dev:PASSWORD@git.example.com/acme/shop.git' },
    says: 'spec.repository has a user name or a password before the host, which belong into the Secret of spec.credentials; write https://git.example.com/acme/shop.git instead.',
  },
  {
    spec: { repository: 'file:///srv/shop.git' },
    says: 'spec.repository begins with another scheme than https:// or ssh://; write an address such as https://git.example.com/acme/shop.git.',
  },
  {
    spec: { branch: 'refs/heads/main' },
    says: 'spec.branch begins with "refs/", as full names of refs do; write main instead.',
  },
  {
    spec: { branch: 'origin/main' },
    says: 'spec.branch begins with "origin/", which is a part of the name at the host, too; if you mean the branch main, write main instead.',
    warning: true,
  },
  {
    spec: { branch: 'new settings' },
    says: 'spec.branch contains a space or a control character; choose another name for the branch.',
  },
  {
    spec: { message: undefined },
    says: 'spec.message is missing; it has to be a commit message that is not blank and has no NUL characters.',
  },
  {
    spec: { message: 'Record\n\nCommitlet-Id: 1' },
    written: '`message` with a line `Commitlet-Id: 1`',
    says: 'spec.message begins line 3 with "Commitlet-" or "Requested-by:", which Commitlet alone writes; leave that line out.',
  },
  {
    spec: { resourceRef: { ...REFERENCE, kind: 'configmap' } },
    says: 'spec.resourceRef.kind is configmap of v1, which the cluster does not know (yet); if you mean ConfigMap of v1, write that.',
    warning: true,
  },
  {
    spec: { resourceRef: { ...REFERENCE, kind: 'Deployment' } },
    written: '`resourceRef: {apiVersion: v1, kind: Deployment}`',
    says: 'spec.resourceRef.kind is Deployment of v1, which the cluster does not know (yet); if you mean Deployment of apps/v1, write that.',
    warning: true,
  },
  {
    spec: { resourceRef: { ...REFERENCE, kind: 'secret' } },
    says: 'spec.resourceRef.kind is Secret, which is never committed in clear text; refer to another kind.',
  },
  {
    spec: { resourceRef: { ...REFERENCE, namespace: 'other' } },
    says: 'spec.resourceRef.namespace is "other", but the operator allows only objects of the resource\'s own namespace (REFERENCE_SCOPE); leave it out, or ask your Commitlet operator.',
  },
  {
    spec: { resourceRef: { ...REFERENCE, apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' } },
    written: '`resourceRef: {kind: ClusterRole}`',
    says: "spec.resourceRef.kind is ClusterRole, which is cluster-scoped, but the operator allows only objects of the resource's own namespace (REFERENCE_SCOPE); name another kind, or ask your Commitlet operator.",
  },
  {
    spec: { resourceRef: { ...REFERENCE, path: '/prod/settings.yaml' } },
    says: 'spec.resourceRef.path begins with "/"; write it from the top of the repository.',
  },
  {
    spec: { resourceRef: { ...REFERENCE, path: '../settings.yaml' } },
    says: 'spec.resourceRef.path has the part "..", of dots and spaces alone; write the path without it.',
  },
  {
    spec: { resourceRef: { ...REFERENCE, path: 'prod/' } },
    says: 'spec.resourceRef.path has an empty part; write exactly one "/" between the parts and none at the end.',
  },
  {
    spec: { resourceRef: undefined },
    says: 'spec.resourceRef is missing; name the object to commit there, or list the files of the commit in spec.files.',
  },
  {
    spec: { files: [{ path: 'a', content: 'b' }] },
    written: 'both `resourceRef` and `files`',
    says: 'spec.files is set together with spec.resourceRef; make that one an entry of spec.files.',
  },
  {
    spec: { credentials: { secretName: 'git', tokenkey: 'token' } },
    says: 'spec.credentials.tokenkey is not supported by this release of Commitlet; write tokenKey instead.',
  },
  {
    spec: {
      repository: 'git@github.com:acme/shop.git',
      credentials: { secretName: 'git', tokenKey: 'token' },
    },
    written: '`credentials.tokenKey` with an SSH address',
    says: 'spec.credentials.tokenKey is not used for an SSH address; name privateKeyKey, or write the https address of the repository.',
  },
  {
    spec: { credentials: { secretName: 'git', privateKeyKey: 'ssh-privatekey' } },
    written: '`credentials.privateKeyKey` with an https address',
    says: 'spec.credentials.privateKeyKey is not used for HTTPS; name tokenKey, or usernameKey and passwordKey.',
  },
  {
    spec: { credentials: undefined, fallbackCredentials: { secretName: 'git' } },
    written: '`fallbackCredentials` without `credentials`',
    says: 'spec.fallbackCredentials is used only together with spec.credentials; name a Secret there too.',
  },
  {
    spec: { credentials: { secretName: 'git', tokenKey: 'ghp_16C7e42F292c6912E7710c838347Ae178B4a' } },
    written: '`credentials.tokenKey`: the token itself',
    says: 'spec.credentials.tokenKey contains what looks like a token or a private key; leave it out, revoke it, because it has been sent to the cluster, and name a Secret in spec.credentials instead.',
  },
  {
    spec: { provider: 'Github' },
    says: 'spec.provider is "Github", which is not a known provider; write one of github, gitlab, bitbucket, gitea (also for Forgejo).',
  },
  {
    kind: 'PullRequest',
    spec: { headBranch: 'main' },
    written: '`baseBranch: main` and `headBranch: main`',
    says: 'spec.headBranch is the same branch as spec.baseBranch; write the name of the branch that holds the changes.',
  },
  {
    kind: 'PullRequest',
    spec: { repository: 'https://git.example.com/acme/shop.git' },
    written: '`repository` at a host that is not public, without `provider`',
    says: 'spec.provider is missing; git.example.com is not a public host, so a pull request needs it. spec.providerConfig.baseURL is missing; git.example.com is not a public host, so a pull request needs it.',
  },
  {
    kind: 'PullRequest',
    spec: {
      repository: 'https://git.example.com/acme/shop.git',
      provider: 'gitlab',
      providerConfig: { baseURL: 'https://git.example.com/api/v4/' },
    },
    written: '`providerConfig.baseURL: https://git.example.com/api/v4/`',
    says: 'spec.providerConfig.baseURL ends with a slash; write https://git.example.com/api/v4 without it.',
  },
  {
    kind: 'PullRequest',
    spec: { reviewers: ['dev', '@ops'] },
    written: '`reviewers: [dev, "@ops"]`',
    says: 'spec.reviewers[1] names a user in a form that github does not use; write user names without "@", and not those of teams or groups.',
  },
  {
    kind: 'PullRequest',
    spec: { labels: ['settings', 'shop', 'settings'] },
    written: '`labels: [settings, shop, settings]`',
    says: 'spec.labels has the entry [0] twice, again as [2]; leave one of them out.',
  },
  {
    kind: 'PullRequest',
    spec: { title: 'x'.repeat(300) },
    written: '`title` of 300 characters',
    says: 'spec.title has 300 characters, but at most 255 are allowed; make it shorter.',
  },
]

/** The table of docs/troubleshooting.md: a warning is in a row of its own kind. */
export function mistakesTable(): string {
  const rows = MISTAKES.map((mistake) => {
    const said = mistake.warning === true ? `Warning: ${mistake.says}` : mistake.says
    return `| ${mistake.written ?? shown(mistake.spec, SPEC)} | ${said} |`
  })
  return ['| written | answer |', '|---|---|', ...rows].join('\n')
}

/** The fields that differ from those of the valid spec. */
function shown(spec: Readonly<Record<string, unknown>>, valid: object, path = ''): string {
  const fields = Object.entries(spec).flatMap(([name, value]) => {
    const before: unknown = Reflect.get(valid, name)
    if (value === before) return []
    if (value === undefined) return `no \`${path}${name}\``
    return isRecord(value) && isRecord(before)
      ? shown(value, before, `${path}${name}.`)
      : `\`${path}${name}: ${String(value)}\``
  })
  return fields.join(', ')
}

/** The resource that a user applies with this mistake. */
export function specOf({ kind = 'GitCommit', spec }: Mistake, namespace = 'shop'): unknown {
  const valid = kind === 'GitCommit' ? SPEC : PULL_REQUEST
  const metadata = { name: 'settings', namespace }
  return { apiVersion: 'commitlet.dev/v1', kind, metadata, spec: { ...valid, ...spec } }
}
