import type { CommandRow, OptionRow } from '../call.ts'

const FILES: OptionRow = {
  name: 'filename',
  short: 'f',
  value: 'FILE',
  completes: 'files',
  many: true,
  about: 'a YAML or JSON file, a folder of them, or - for standard input; may be given several times',
}

const OUTPUT: OptionRow = {
  name: 'output',
  short: 'o',
  value: 'FORMAT',
  completes: ['text', 'json'],
  absent: 'text',
  about: 'text or json',
}

const CLUSTER: readonly OptionRow[] = [
  {
    name: 'kubeconfig',
    value: 'FILE',
    completes: 'files',
    about: 'the kubeconfig, instead of KUBECONFIG or ~/.kube/config',
  },
  { name: 'context', value: 'NAME', about: 'a context of the kubeconfig, instead of its current one' },
  { name: 'namespace', short: 'n', value: 'NAME', about: 'the namespace, instead of that of the context' },
  {
    name: 'system-namespace',
    value: 'NAME',
    absent: 'commitlet-system',
    about: 'where Commitlet is installed',
  },
]

/** Every command. A new one is a new row here. */
export const COMMANDS: readonly CommandRow[] = [
  {
    name: 'check',
    words: '[KIND/NAME]',
    completes: 'resources',
    about: 'goes through what an attempt would do, without writing anything',
    details: [
      'Looks at a GitCommit, a PullRequest or a Secret, of the cluster or of files: form and rules, the rights of the requester and of the function, the referenced objects, the Secret and where it may be used, DNS and address rules, the certificate or the host key, the log-in, the branch and the path, whether the host would let this login push, and what the API of the host tells about the token: its user, its scopes, its end, and the protection of the branch.',
      'Each step is ✓, ✗ with what fixes it, or – where it was not looked at, with why. It is the code of the function that goes through them, on this machine: the network, the proxy and the authorities of the function may be others. No push is made, so the hooks and rules of the host have not spoken. A Secret that you may not `get` stays unseen, and so does what depends on it.',
      'With files nothing has to be in the cluster yet: what the files hold counts in place of it, and you are the requester. Without a kubeconfig the files alone count.',
    ],
    options: [FILES, OUTPUT, ...CLUSTER],
    examples: [
      ['commitlet check shop-settings', 'the GitCommit of this name'],
      ['commitlet check pullrequest/shop -n team', 'a PullRequest of another namespace'],
      ['commitlet check -f shop.yaml', 'before it is applied'],
      ['commitlet check secret/git', 'a Secret by itself'],
    ],
    load: async () => (await import('../check/check.ts')).check,
  },
  {
    name: 'render',
    words: '[NAME]',
    completes: 'resources',
    about: 'prints what a GitCommit would commit, or the difference to its branch',
    details: [
      'Prints the bytes of the files, as an attempt makes them. With --diff it reads the branch and prints a unified diff; the exit code is then 1 if something would change. Nothing is written.',
      'A GitCommit with `set` edits files of the branch, so that the branch is always read.',
    ],
    options: [{ name: 'diff', about: 'compare with the branch' }, FILES, OUTPUT, ...CLUSTER],
    examples: [
      ['commitlet render shop-settings', 'the manifest that would be committed'],
      ['commitlet render -f shop.yaml --diff', 'what the commit would change'],
    ],
    load: async () => (await import('../render/render.ts')).render,
  },
  {
    name: 'explain',
    words: 'KIND/NAME',
    completes: 'resources',
    about: 'tells why a resource is not Ready, what happened, and what to do',
    details: [
      'Prints the reason and the message, who requested it, how many attempts were made, what comes next by itself, and what to do; then the conditions and the Events, which clusters keep for an hour.',
      'The exit code is 0 if it is Ready, 1 if it has failed, and 3 if that is not decided yet.',
    ],
    options: [OUTPUT, ...CLUSTER],
    examples: [
      ['commitlet explain shop-settings', 'the GitCommit of this name'],
      ['commitlet explain pullrequest/shop -o json', 'for a script'],
    ],
    load: async () => (await import('../explain/explain.ts')).explainResource,
  },
  {
    name: 'apply',
    words: '-f FILE...',
    about: 'carries out the GitCommits and PullRequests of files, without a cluster',
    details: [
      'For pipelines: the files take the place of the cluster. ConfigMaps, Secrets and other objects are read from them as they are written, so without what an API server would add; GitCommits are carried out in the order of the files, then PullRequests. Log-ins, rules, retries and messages are those of the function. No cluster is called.',
      'What holds: one commit holds all files of a GitCommit or none; the branch is never forced; nothing is committed where the content is there; a lost race is tried again. With --run, a second try of the same pipeline counts the commits of the first as its own. What does not hold: there is no stamp, so the commit names whoever runs the command; there is no status, and nobody tries again after the command has ended; two pipelines at a time are two writers, of which the last one wins.',
      'Settings are read from the environment, as the function reads them: CA_FILE, SSH_KNOWN_HOSTS, HTTPS_PROXY, NO_PROXY, STAMP_KEY_FILE, INSECURE_HOSTS, ALLOWED_REPOSITORIES, REFERENCE_SCOPE, DEFAULT_GIT_TOKEN and DEFAULT_GIT_REPOSITORIES, DEFAULT_SIGNING_KEY_FILE and DEFAULT_SIGNING_REPOSITORIES, REQUIRE_SIGNING, COMMIT_AUTHOR_NAME, COMMIT_AUTHOR_EMAIL, REQUESTED_BY_TRAILER, GIT_ENGINE, ATTEMPT_DEADLINE, FETCH_LIMIT.',
    ],
    options: [
      FILES,
      {
        name: 'run',
        value: 'ID',
        about: 'the run of the pipeline, the same for each try of it and no other run, such as its ID',
      },
      {
        name: 'requester',
        value: 'NAME',
        about: 'who asks for it, for the trailer Requested-by, instead of the user of this machine',
      },
      {
        name: 'timeout',
        value: 'TIME',
        absent: '5m',
        about: 'how long failures that may pass are tried again, such as 90s or 10m',
      },
      {
        name: 'namespace',
        short: 'n',
        value: 'NAME',
        absent: 'default',
        about: 'the namespace of objects that name none',
      },
      OUTPUT,
    ],
    examples: [
      ['commitlet apply -f deploy/', 'every file of a folder'],
      [
        'kustomize build . | commitlet apply -f - --run "$CI_PIPELINE_ID"',
        'in a pipeline that may be repeated',
      ],
    ],
    load: async () => (await import('../apply/apply.ts')).apply,
  },
  {
    name: 'doctor',
    words: '',
    about: 'looks at the installation',
    details: [
      'Looks at the version of Kubernetes, both CustomResourceDefinitions, the webhook configurations and their authority, the certificate of the webhook, whether the API server reaches the webhook (with a dry run that the webhook refuses), the rights of both service accounts, both parts and their pods, whether both mount the same stamp key, the sink of the events, and the Lease of the sweeps.',
      'Run it as an operator: what you may not read stays unseen. No value of a Secret is printed.',
    ],
    options: [OUTPUT, ...CLUSTER.filter(({ name }) => name !== 'namespace')],
    examples: [['commitlet doctor', 'the installation in commitlet-system']],
    load: async () => (await import('../doctor/doctor.ts')).doctor,
  },
  {
    name: 'completion',
    words: 'SHELL',
    completes: ['bash', 'zsh', 'fish'],
    about: 'prints the completion for a shell: bash, zsh or fish',
    details: ['The script completes commands, options, kinds and files. It calls nothing.'],
    options: [],
    examples: [
      ['source <(commitlet completion bash)', 'for this shell; put the line into ~/.bashrc for every one'],
      ['commitlet completion zsh > "${fpath[1]}/_commitlet"', 'for zsh, which reads it at its next start'],
      ['commitlet completion fish > ~/.config/fish/completions/commitlet.fish', 'for fish'],
    ],
    load: async () => (await import('../completion/completion.ts')).completion,
  },
  {
    name: 'man',
    words: '',
    about: 'prints the manual page, as man reads it',
    details: ['A release has it as dist/commitlet.1, too.'],
    options: [],
    examples: [['commitlet man | man -l -', 'reads it']],
    load: async () => (await import('../completion/completion.ts')).man,
  },
]
