import t from 'tap'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import type { WrittenPath } from '../../../functions/domain/repository/committed-path.ts'
import { ALLOWED_PATHS, ALLOWED_REPOSITORIES } from '../../../functions/domain/resource/api-names.ts'
import type { BoundSecret } from '../../../functions/domain/credentials/secret-binding.ts'
import {
  requirePathsAllowed,
  requireRepositoryAllowed,
  unusableSecret,
} from '../../../functions/domain/credentials/secret-binding.ts'
import { costOf } from '../../harness/growth.ts'

const SHOP = parseRepositoryAddress('https://git.example.com/acme/shop.git')
const SENTENCE =
  'The Secret git in the namespace shop is not one that developer may `get`, or may `use` for this repository (`use` counts only while the annotation commitlet.dev/allowed-repositories of the Secret covers it); ask the owner of the Secret, or name another one.'
const ENTRY = 'add git.example.com/acme/shop to its annotation commitlet.dev/allowed-repositories'

function bound(annotations: Readonly<Record<string, string>>): BoundSecret {
  return { namespace: 'shop', name: 'git', annotations }
}

for (const [title, list, right, refusal] of [
  ['a user who may get a Secret may use it without an annotation', undefined, 'get', undefined],
  ['a user who may only use a Secret needs its annotation', undefined, 'use', SENTENCE],
  ['a Secret that names the repository goes there for its reader', 'git.example.com/acme', 'get', undefined],
  ['a Secret that names the repository goes there for its user', 'git.example.com/acme', 'use', undefined],
  ['an annotation without an entry covers nothing, for its user', '', 'use', SENTENCE],
  ['an annotation that covers another repository, for its user', 'git.example.com/acme/sho', 'use', SENTENCE],
  [
    'a reader is told what the Secret does not allow',
    'git.example.com/acme-evil',
    'get',
    'The Secret shop/git does not allow https://git.example.com/acme/shop.git; add git.example.com/acme/shop to its annotation commitlet.dev/allowed-repositories.',
  ],
  [
    'an annotation without an entry covers nothing, for its reader',
    '',
    'get',
    'The Secret shop/git does not allow https://git.example.com/acme/shop.git; add git.example.com/acme/shop to its annotation commitlet.dev/allowed-repositories.',
  ],
] as const) {
  t.test(title, async (t) => {
    const secret = bound(list === undefined ? {} : { [ALLOWED_REPOSITORIES]: list })
    const user = right === 'get' ? { right } : { right, username: 'developer' }
    const check = (): void => requireRepositoryAllowed(secret, SHOP, user)
    if (refusal === undefined) t.doesNotThrow(check)
    // A user who may only use it cannot read it: its owner has time to fix it.
    const retry = right === 'get' ? 'never' : 'slow'
    if (refusal !== undefined)
      t.throws(check, { name: 'Failure', reason: 'ReferenceForbidden', retry, message: refusal })
  })
}

for (const [repository, list, told] of [
  ['https://git.example.com/acme/shop', 'https://git.example.com/acme', 'https://git.example.com/acme'],
  [
    'https://git.example.com/acme/shop',
    'github.com, https://me:hunter2@git.example.com/acme',
    '***@git.example.com/acme',
  ],
  ['https://git.example.com/acme/shop', 'me:hunter2/@git.example.com', '***@git.example.com'],
  ['https://git.example.com/acme/shop', 'git@git.example.com:acme/shop', '***@git.example.com:acme/shop'],
  ['https://git.example.com/acme/shop', 'git.example.com/a\u0007', 'git.example.com/a?'],
  ['https://git.example.com/acme/shop', `${'a'.repeat(101)}/../b`, 'a'.repeat(100)],
] as const) {
  t.test(`an entry that cannot be read is named: ${told}`, async (t) => {
    const address = parseRepositoryAddress(repository)
    const check = (): void =>
      requireRepositoryAllowed(bound({ [ALLOWED_REPOSITORIES]: list }), address, { right: 'get' })
    t.throws(check, {
      message: `The Secret shop/git does not allow ${repository}; ${ENTRY}, where "${told}" is not [user@]host[:port][/path].`,
    })
  })
}

for (const [repository, entry] of [
  ['https://git.example.com:8443/acme/shop', 'git.example.com:8443/acme/shop'],
  ['https://[2001:db8::1]/acme/shop.git', '[2001:db8::1]/acme/shop'],
  ['git@git.example.com:acme/shop.git', 'git.example.com/acme/shop'],
  ['ssh://git@git.example.com:2222/acme/shop.git', 'git.example.com:2222/acme/shop'],
  ['admin@git.example.com:acme/shop.git', 'admin@git.example.com/acme/shop'],
  ['ssh://admin@[2001:db8::1]:2222/acme/shop.git', 'admin@[2001:db8::1]:2222/acme/shop'],
  ['https://bitbucket.org/acme/{ab}', 'bitbucket.org/acme/{ab}'],
] as const) {
  t.test(`what the annotation lacks for ${repository} covers it`, async (t) => {
    const address = parseRepositoryAddress(repository)
    const check = (list: string) => (): void =>
      requireRepositoryAllowed(bound({ [ALLOWED_REPOSITORIES]: list }), address, { right: 'get' })
    t.throws(check('github.com'), {
      message: `The Secret shop/git does not allow ${address.text}; add ${entry} to its annotation commitlet.dev/allowed-repositories.`,
    })
    t.doesNotThrow(check(`github.com, ${entry}`))
  })
}

for (const repository of ['admin@git.example.com:acme/shop', 'https://git.example.com/acme/{ab}']) {
  t.test(`a Secret that names the folder of ${repository} does not go there`, async (t) => {
    const address = parseRepositoryAddress(repository)
    const secret = bound({ [ALLOWED_REPOSITORIES]: 'git.example.com/acme' })
    t.throws(() => requireRepositoryAllowed(secret, address, { right: 'get' }), {
      message: /does not allow/,
    })
  })
}

t.test('a user who may not get a Secret reads one sentence, whatever the cause', async (t) => {
  t.equal(unusableSecret({ namespace: 'shop', name: 'git' }, 'developer'), SENTENCE)
  t.match(unusableSecret({ namespace: 'shop', name: 'git' }, 'a\nb'), 'not one that a?b may `get`')
})

const STEERS =
  'spec.resourceRef.path has the part ".github", which configures Git or the host; choose another path, or add it to the annotation commitlet.dev/allowed-paths of the Secret shop/git.'
const OUTSIDE =
  'spec.resourceRef.path is not below a path that this Secret may write; choose another path, or add it to the annotation commitlet.dev/allowed-paths of the Secret shop/git.'

for (const [title, path, list, refusal] of [
  ['a plain path needs no word', 'a.yaml', undefined, undefined],
  ['a file that configures the host needs the word of the Secret', '.github/a.yaml', undefined, STEERS],
  [
    'a file that configures the host is let through where the Secret names it',
    '.github/a.yaml',
    '.github',
    undefined,
  ],
  ['a path under a prefix is let through', 'clusters/prod/a.yaml', 'x, clusters/prod', undefined],
  ['a path beside a prefix is refused', 'clusters/production/a.yaml', 'x, clusters/prod', OUTSIDE],
  ['an annotation without an entry lets nothing through', 'a.yaml', '', OUTSIDE],
  [
    'a file that configures the host is named where another path is allowed',
    '.github/a.yaml',
    'clusters',
    STEERS,
  ],
] as const) {
  t.test(title, async (t) => {
    const check = (): void =>
      requirePathsAllowed(
        [{ field: 'spec.resourceRef.path', path }],
        bound(list === undefined ? {} : { [ALLOWED_PATHS]: list }),
      )
    if (refusal === undefined) t.doesNotThrow(check)
    else t.throws(check, { name: 'Failure', reason: 'ReferenceForbidden', message: refusal })
  })
}

t.test('each path of a commit has to be allowed, and the first that is not is named', async (t) => {
  const secret = bound({ [ALLOWED_PATHS]: 'clusters/prod/, shop' })
  const paths = (...written: readonly string[]): readonly WrittenPath[] =>
    written.map((path, index) => ({ field: `spec.files[${index}].path`, path }))
  t.doesNotThrow(() => requirePathsAllowed(paths('shop/a.yaml', 'clusters/prod/b.yaml'), secret))
  t.throws(() => requirePathsAllowed(paths('shop/a.yaml', 'clusters/b.yaml', 'c.yaml'), secret), {
    reason: 'ReferenceForbidden',
    message: OUTSIDE.replace('spec.resourceRef.path', 'spec.files[1].path'),
  })
  t.doesNotThrow(() => requirePathsAllowed([], secret), 'a pull request writes none')
})

t.test('an entry that is no path is named', async (t) => {
  const check = (list: string) => (): void =>
    requirePathsAllowed(
      [{ field: 'spec.resourceRef.path', path: 'a.yaml' }],
      bound({ [ALLOWED_PATHS]: list }),
    )
  t.throws(check('shop, /a.yaml'), {
    message: OUTSIDE.replace(/\.$/, ', where "/a.yaml" is not a path in a repository.'),
  })
  t.throws(check('../a.yaml'), { message: /where "\.\.\/a\.yaml" is not a path/ })
})

t.test('a mistake is looked for at the beginning of a list alone, because every refusal looks', async (t) => {
  const valid = 'shop/settings,'.repeat(2_000)
  const refusals = (list: string): readonly (() => void)[] => [
    () =>
      requirePathsAllowed(
        [{ field: 'spec.resourceRef.path', path: 'a.yaml' }],
        bound({ [ALLOWED_PATHS]: list }),
      ),
    () =>
      requireRepositoryAllowed(
        bound({ [ALLOWED_REPOSITORIES]: list }),
        parseRepositoryAddress('https://git.example.com/a/b'),
        { right: 'get' },
      ),
  ]
  for (const refusal of refusals(`/shop,${valid}`)) t.throws(refusal, { message: /where "\/shop" is not/ })
  for (const refusal of refusals(`${valid}/shop`)) t.throws(refusal, { message: /^[^"]*$/ })
  for (const refusal of refusals(`${'x'.repeat(20_000)}//`)) t.throws(refusal, { message: /^[^"]*$/ })
})

t.test('a list of 130,000 paths is searched once for a hundred files, not once for each', async (t) => {
  const secret = bound({ [ALLOWED_PATHS]: `${'b,'.repeat(131_000)}a` })
  const filesOf = (count: number): readonly WrittenPath[] =>
    Array.from({ length: count }, (_, i) => ({ field: `spec.files[${i}].path`, path: `a/f${i}` }))
  const costOfFiles = (count: number): number =>
    costOf(() => () => requirePathsAllowed(filesOf(count), secret), 0)
  t.doesNotThrow(() => requirePathsAllowed(filesOf(100), secret))
  // The compiler and the garbage collector may take part in one try.
  const isCheap = (): boolean => costOfFiles(100) < 3 * costOfFiles(1) + 5
  t.ok(Array.from({ length: 10 }).some(isCheap))
})
