import { spawnSync } from 'node:child_process'
import fc from '../../harness/fast-check.ts'
import t from 'tap'
import { branchComplaint } from '../../../functions/domain/repository/branch-name.ts'
import { sized } from '../../harness/sample.ts'

function isBranchForGit(name: string): boolean {
  const { status, stdout } = spawnSync('git', ['check-ref-format', '--branch', name], { encoding: 'utf8' })
  return status === 0 && stdout === `${name}\n`
}

const NAMES = [
  'main',
  'feature/new-settings',
  'é/日本',
  '@',
  'a@',
  'a@{b',
  '@{-1}',
  '-x',
  'a/-x',
  'HEAD',
  'head',
  'HEAD/x',
  'a..b',
  'a.',
  'a./b',
  '.a',
  'a/.b',
  'x.lock',
  'x.lock/y',
  'x.locked',
  'a//b',
  '/a',
  'a/',
  'a b',
  'a~b',
  'a^b',
  'a:b',
  'a?b',
  'a*b',
  'a[b',
  'a]b',
  'a\\b',
  'a\tb',
  'a\u007fb',
  'a{b}',
  'a"b',
]

t.test('a name is a branch exactly where Git says so', async (t) => {
  for (const name of NAMES)
    t.equal(branchComplaint(name) === undefined, isBranchForGit(name), JSON.stringify(name))
})

t.test('a full ref name is not a branch name, although Git would make a branch of that name', async (t) => {
  t.equal(branchComplaint('refs/heads/main'), 'begins with "refs/", as full names of refs do')
  t.equal(branchComplaint('refs'), undefined)
  t.equal(branchComplaint('my/refs/x'), undefined)
})

t.test('random names are judged as Git judges them', async () => {
  const piece = fc.constantFrom(
    'a',
    'b',
    '.',
    '..',
    '/',
    '-',
    '@',
    '{',
    '~',
    '^',
    ':',
    '*',
    '[',
    '\\',
    ' ',
    '.lock',
    'HEAD',
  )
  const names = fc.array(piece, { minLength: 1, maxLength: 5 }).map((pieces) => pieces.join(''))
  fc.assert(
    fc.property(names, (name) => (branchComplaint(name) === undefined) === isBranchForGit(name)),
    { numRuns: sized(15, 300) },
  )
})

t.test('an empty name and half a character are not a branch', async (t) => {
  t.equal(branchComplaint(''), 'is empty')
  t.match(branchComplaint('a\ud800'), /surrogate/)
})
