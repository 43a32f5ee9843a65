import t from 'tap'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import { targetOf } from '../../../functions/domain/repository/target.ts'
import { Failure } from '../../../functions/domain/failure.ts'
import { permitBy, requireOperatorAllows } from '../../../functions/domain/pull-request/renamed-repository.ts'

/** The addresses for which the present path of a repository is checked. */
function askedFor(text: string, present: readonly string[], baseURL?: string): readonly string[] {
  const target = targetOf('PullRequest', parseRepositoryAddress(text), { provider: 'gitea', baseURL })
  const asked: string[] = []
  permitBy({ target, secrets: [] }, ({ address }) => void asked.push(address.text))(present)
  return asked
}

for (const [text, present, expected, baseURL] of [
  ['https://github.com/acme/shop.git', ['market', 'store'], 'https://github.com/market/store.git'],
  [
    'https://git.example.com:8443/acme/shop',
    ['market', 'store'],
    'https://git.example.com:8443/market/store',
  ],
  ['https://git.example.com/acme/shop', ['a', 'b', 'c', 'd'], 'https://git.example.com/a/b/c/d'],
  [
    'https://git.example.com/git/acme/shop.git',
    ['market', 'git'],
    'https://git.example.com/git/market/git.git',
    'https://git.example.com/git/api/v1',
  ],
  [
    'ssh://git@git.example.com:2222/acme/shop',
    ['market', 'store'],
    'ssh://git@git.example.com:2222/market/store',
  ],
  ['git@git.example.com:acme/shop.git', ['market', 'store'], 'git@git.example.com:market/store.git'],
] as const) {
  t.test(`${text} is checked as ${expected}`, async (t) => {
    t.strictSame(askedFor(text, present, baseURL), [expected])
  })
}

const TARGET = targetOf('PullRequest', parseRepositoryAddress('https://git.example.com/acme/shop.git'))
const RENAMED = { target: TARGET, secrets: ['s3cr3t'] }

function refusalOf(present: readonly string[], requireAllowed: () => void): unknown {
  try {
    permitBy(RENAMED, requireAllowed)(present)
    return undefined
  } catch (error) {
    return error
  }
}

t.test('a refusal names the new path before what to do', async (t) => {
  const why = new Failure('AddressForbidden', 'Have it added to the list.', { retry: 'slow' })
  const refused = refusalOf(['market', 'store'], () => {
    throw why
  })
  t.match(refused, {
    reason: 'ReferenceForbidden',
    retry: 'slow',
    message: 'https://git.example.com/acme/shop.git is now called market/store. Have it added to the list.',
  })
})

t.test('what is not a Failure is a bug, and stays one', async (t) => {
  const bug = new TypeError('a bug')
  const thrown = refusalOf(['market', 'store'], () => {
    throw bug
  })
  t.equal(thrown, bug)
})

for (const [what, present, said] of [
  [
    'holds a secret',
    ['market', 'a-s3cr3t'],
    /is now called market\/a-\*\*\*\. A repository with such a name cannot be allowed/,
  ],
  ['steps out of its place', ['..', 'other'], /is now called \.\.\/other\. /],
  ['has an empty part', ['market', ''], /\. A repository with such a name cannot be allowed/],
  ['has strange letters', ['market', 'a b?c'], /\. A repository with such a name cannot be allowed/],
  ['turns the text around', ['market', 'a\u202eb'], /is now called market\/a b\. /],
  ['is nothing', [], /\. A repository with such a name cannot be allowed/],
  ['is longer than any address', ['market', 'a'.repeat(3_000)], /…/],
] as const) {
  t.test(`a path that ${what} is refused, and no check is made`, async (t) => {
    const refused = refusalOf(present, () => t.fail('asked'))
    t.match(refused, { reason: 'ReferenceForbidden', message: said })
    t.notMatch(refused, { message: /s3cr3t/ })
  })
}

t.test('the list of the operator covers it, or there is none', async (t) => {
  requireOperatorAllows(undefined, TARGET)
  requireOperatorAllows('git.example.com/acme, github.com', TARGET)
  for (const list of ['github.com', '', 'git.example.com/acme/other']) {
    const refuse = (): void => requireOperatorAllows(list, TARGET)
    t.throws(refuse, { reason: 'ReferenceForbidden', message: /\(ALLOWED_REPOSITORIES\); ask/ }, list)
  }
})

t.test('for an SSH address the API has to be covered as well', async (t) => {
  const target = targetOf('PullRequest', parseRepositoryAddress('ssh://git@git.example.com:2222/acme/shop'))
  requireOperatorAllows('git.example.com:2222, git.example.com', target)
  t.throws(() => requireOperatorAllows('git.example.com:2222', target), { message: /ALLOWED_REPOSITORIES/ })
})
