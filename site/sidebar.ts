interface Group {
  readonly text: string
  readonly items: { readonly text: string; readonly link: string }[]
}

/** Titles of pages, in the order of a reader. */
const GROUPS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  'Get started': {
    introduction: 'Introduction',
    'getting-started': 'Getting started',
    concepts: 'Concepts',
    install: 'Installation',
  },
  Use: {
    gitcommit: 'GitCommit',
    following: 'Following changes',
    'pull-requests': 'Pull requests',
    authentication: 'Authentication',
    signing: 'Signed commits',
    cli: 'The command line',
    gitops: 'With Argo CD and Flux',
    faq: 'Questions',
  },
  Operate: {
    configuration: 'Configuration',
    troubleshooting: 'Troubleshooting',
    'log-in-messages': 'Messages of log-ins',
    monitoring: 'Monitoring',
    policy: 'Policies',
    triggers: 'Triggers',
    security: 'Security',
    scale: 'Scale',
    performance: 'Performance',
    reliability: 'Reliability',
    releases: 'Releases',
  },
  Bounds: {
    bounds: 'What one tenant can take',
    'bounds/thread': 'The thread that answers',
    'bounds/events': 'Bodies, connections, events',
    'bounds/admission': 'Reviews and admission',
    'bounds/api-server': 'The API server',
    'bounds/sweeps': 'Waiting, following, sweeps',
    'bounds/attempts': 'Memory, disk and places',
    'bounds/direct-engine': 'The direct engine',
    'bounds/git-and-ssh': 'The git binary and SSH',
    'bounds/hosts': "Hosts' APIs and limits",
    'bounds/shared-pushes': 'Shared pushes and logins',
    'bounds/logs-and-tls': 'Logs, TLS, certificates',
    'bounds/node': 'The pod and its node',
  },
  Reference: {
    'reference-gitcommit': 'GitCommit, all fields',
    'reference-pullrequest': 'PullRequest, all fields',
    'troubleshooting#reasons': 'Reasons',
    changelog: 'Changelog',
  },
  Contribute: {
    contributing: 'Contributing',
    'adding-a-provider': 'Adding a provider',
    'model-checking': 'Model checking',
    reporting: 'Reporting a vulnerability',
  },
}

/** The menu beside every page; a test checks that it has all pages. */
export const SIDEBAR: Group[] = Object.entries(GROUPS).map(([text, pages]) => ({
  text,
  items: Object.entries(pages).map(([page, title]) => ({ text: title, link: `/${page}` })),
}))
