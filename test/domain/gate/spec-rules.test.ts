import t from 'tap'
import * as rules from '../../../functions/domain/gate/spec-rules.ts'
import type { FieldError } from '../../../functions/domain/field-error.ts'
import type { Kind } from '../../../functions/domain/resource/api-names.ts'
import { readable } from '../fixtures/parsed.ts'
import { cpuTime } from '../../harness/cpu-time.ts'
import { allowedMs } from '../../harness/growth.ts'

const SPEC = {
  repository: 'https://git.example.com/acme/shop.git',
  message: 'chore: settings',
  credentials: { secretName: 'git' },
  resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: 'settings', path: 'prod/settings.yaml' },
}
const PULL = {
  repository: 'https://github.com/acme/shop.git',
  baseBranch: 'main',
  headBranch: 'new',
  title: 'New settings',
  credentials: { secretName: 'git' },
}

function specErrors(kind: Kind, spec: unknown): readonly FieldError[] {
  return rules.specErrors(readable(kind, spec))
}

/** What the rules find in addition to the schema. */
function byRules(kind: Kind, spec: unknown): readonly FieldError[] {
  const { fieldErrors } = readable(kind, spec)
  const known = fieldErrors.map(({ message }) => message)
  return specErrors(kind, spec).filter(({ message }) => !known.includes(message))
}

function specWarnings(spec: unknown): readonly string[] {
  return rules.specWarnings(readable('GitCommit', spec))
}

function fields(kind: Kind, spec: unknown): string[] {
  return specErrors(kind, spec).map(({ reason, field }) => `${reason} ${field}`)
}

t.test('a valid spec has no field errors', async (t) => {
  t.same(specErrors('GitCommit', SPEC), [])
  t.same(specErrors('GitCommit', { ...SPEC, branch: 'feature/x' }), [])
  t.same(specErrors('GitCommit', { ...SPEC, repository: 'git@git.example.com:acme/shop.git' }), [])
  t.same(specErrors('GitCommit', { ...SPEC, credentials: undefined }), [], 'the default of the operator')
  t.same(specErrors('PullRequest', PULL), [])
  t.same(specErrors('PullRequest', { ...PULL, headBranch: 'dev:new' }), [])
})

t.test('the title of a pull request is one line, and not blank', async (t) => {
  for (const title of ['', ' ', '\t', '   ', 'one\ntwo'])
    t.same(fields('PullRequest', { ...PULL, title }), ['InvalidSpec spec.title'], JSON.stringify(title))
  for (const title of ['x', ' x', '\u65b0 '.repeat(127)])
    t.same(fields('PullRequest', { ...PULL, title }), [], JSON.stringify(title))
})

const MESSAGES: [string, boolean][] = [
  ['Commitlet-Id: x', false],
  ['Subject\n\nCommitlet-Id: x', false],
  ['Subject\n\n \t COMMITLET-resource: x', false],
  ['Subject\r\n\r\nrequested-by: x', false],
  ['Subject\n\nRequested-By : x', false],
  ['Subject\rCommitlet-Id: x', false],
  ['Subject\u2028Commitlet-Id: x', false],
  ['Subject\n\n\u00a0Commitlet-Id: x', false],
  ['Subject\ud800', false],
  ['Subject\n\n\u200bRequested-by: x', false],
  ['Subject\n\n\u202e\u2066Commitlet-Id: x', false],
  ['Subject\n\n\x7fRequested-by: x', false],
  ['Subject\x1b[2K', false],
  ['Subject\b\b', false],
  ['Subject\n\n\tcode\r\n', true],
  ['Familie 👨\u200d👩\u200d👧', true],
  ['Subject\n\n# ------------------------ >8 ------------------------\nmore', false],
  ['Subject\r; ------------------------ >8 ------------------------ \rmore', false],
  ['Subject\n\n# ---- >8 ----\nmore', true],
  ['é'.repeat(32_769), false],
  ['é'.repeat(32_768), true],
  ['About Commitlet-Id: x', true],
  ['Requested by many', true],
  ['Requested-by-nobody: x', true],
  ['Subject\n\n- Commitlet-Id', true],
]

t.test('a message cannot forge a trailer, and has a bound in bytes', async (t) => {
  for (const [index, [message, sound]] of MESSAGES.entries()) {
    const expected = sound ? [] : ['InvalidSpec spec.message']
    t.same(fields('GitCommit', { ...SPEC, message }), expected, `message ${index}`)
  }
})

t.test('neither a message nor a path says that the repository has moved', async (t) => {
  const moved = 'This repository has moved to https://git.example.com/x/y'
  for (const message of [moved, `Fix\n\n  the project was renamed`]) {
    const [error] = specErrors('GitCommit', { ...SPEC, message })
    t.match(error, {
      field: 'spec.message',
      message: /^spec\.message has a line that says that a repository has moved/,
    })
  }
  const path = 'repository moved'
  const { resourceRef, ...rest } = SPEC
  t.same(fields('GitCommit', { ...rest, resourceRef: { ...resourceRef, path } }), [
    'InvalidSpec spec.resourceRef.path',
  ])
  t.same(fields('GitCommit', { ...rest, files: [{ path, remove: true }] }), [
    'InvalidSpec spec.files[0].path',
  ])
  for (const message of ['Move the project to another repository', 'chore: monorepo moved to pnpm'])
    t.same(fields('GitCommit', { ...SPEC, message }), [])
})

t.test('a message of blank lines is read quickly', async (t) => {
  const began = cpuTime()
  specErrors('GitCommit', { ...SPEC, message: `${'\n'.repeat(65_000)}x` })
  t.ok(cpuTime() - began < allowedMs(100))
})

t.test('each field is judged by its own rule', async (t) => {
  const cases: [Record<string, unknown>, string][] = [
    [{ repository: 'https://h/a/../b' }, 'InvalidSpec spec.repository'],
    [{ branch: '-x' }, 'InvalidSpec spec.branch'],
    [{ branch: 'a..b' }, 'InvalidSpec spec.branch'],
    [{ resourceRef: { ...SPEC.resourceRef, kind: 'Secret' } }, 'InvalidSpec spec.resourceRef.kind'],
    [{ resourceRef: { ...SPEC.resourceRef, path: '.git/config' } }, 'InvalidSpec spec.resourceRef.path'],
    [{ provider: 'other' }, 'InvalidSpec spec.provider'],
    [
      { repository: 'git@git.example.com:acme/shop.git', credentials: undefined },
      'InvalidSpec spec.credentials',
    ],
  ]
  for (const [change, fault] of cases)
    t.same(fields('GitCommit', { ...SPEC, ...change }), [fault], JSON.stringify(change))
})

t.test('both branches of a pull request are judged', async (t) => {
  t.same(fields('PullRequest', { ...PULL, baseBranch: 'a b', headBranch: 'dev:.x' }), [
    'InvalidSpec spec.baseBranch',
    'InvalidSpec spec.headBranch',
  ])
  t.same(fields('PullRequest', { ...PULL, baseBranch: 'dev:main' }), ['InvalidSpec spec.baseBranch'])
})

t.test('a branch does not join itself', async (t) => {
  t.match(specErrors('PullRequest', { ...PULL, headBranch: 'main' }), [
    {
      reason: 'InvalidSpec',
      field: 'spec.headBranch',
      message:
        'spec.headBranch is the same branch as spec.baseBranch; write the name of the branch that holds the changes.',
    },
  ])
  t.same(specErrors('PullRequest', { ...PULL, headBranch: 'dev:main' }), [], 'that of a fork is another')
  t.same(fields('PullRequest', { ...PULL, baseBranch: 'a b', headBranch: 'a b' }).length, 2)
  t.same(byRules('PullRequest', { ...PULL, baseBranch: '', headBranch: '' }), [], 'the schema tells')
})

t.test('a Secret of another API group is not that Secret', async (t) => {
  const resourceRef = { ...SPEC.resourceRef, apiVersion: 'example.com/v1', kind: 'Secret' }
  t.same(specErrors('GitCommit', { ...SPEC, resourceRef }), [])
})

t.test('many field errors are reported at once, each with its field', async (t) => {
  const fieldErrors = specErrors('GitCommit', {
    repository: 'https://user:hunter2@h/a',
    branch: '-x',
    message: 'Commitlet-Id: x',
    resourceRef: { ...SPEC.resourceRef, kind: 'Secret', path: '../x' },
  })
  t.equal(fieldErrors.length, 5)
  for (const { field, message } of fieldErrors) {
    t.ok(message.startsWith(`${field} `), message)
    t.match(message, /\.$/)
    t.notMatch(message, /hunter2/)
  }
})

t.test('what the schema refuses is skipped without a crash', async (t) => {
  for (const spec of [{ resourceRef: [] }, { repository: 5, message: [], resourceRef: null, branch: {} }]) {
    t.same(byRules('GitCommit', spec), [])
  }
  t.same(byRules('GitCommit', { ...SPEC, branch: '', resourceRef: { path: '' } }), [])
})

t.test('a file that configures the host is a warning: the Secret decides', async (t) => {
  t.match(specWarnings({ resourceRef: { path: '.github/workflows/a.yaml' } })[0], /allowed-paths/)
  t.same(specWarnings(SPEC), [])
  t.same(specWarnings({ resourceRef: { path: '.git/.gitmodules' } }), [])
  t.same(specWarnings({ resourceRef: null }), [])
})
