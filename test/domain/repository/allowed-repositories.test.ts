import t from 'tap'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import type { RepositoryAddress } from '../../../functions/domain/repository/address.ts'
import {
  allows,
  coveredPaths,
  unsoundEntry,
  unsoundPrefix,
} from '../../../functions/domain/repository/allowed-repositories.ts'
import { costOf } from '../../harness/growth.ts'
import { isCounted } from '../../harness/sample.ts'

const REPOSITORIES = [
  ['github.com', 'https://github.com/acme/shop', true],
  ['github.com/acme', 'https://github.com/acme/shop.git', true],
  ['github.com/acme/', 'https://github.com/acme/shop', true],
  ['github.com/acme/shop.git', 'https://github.com/acme/shop', true],
  ['github.com/acme/shop', 'https://github.com/acme/shop.git', true],
  ['github.com/acme', 'https://github.com/acme-evil/shop', false],
  ['github.com/acme/shop', 'https://github.com/acme/shop2', false],
  ['github.com/acme/shop', 'https://github.com/acme', false],
  ['github.com/Acme', 'https://github.com/aCME/shop', true],
  ['GitHub.com/acme', 'https://github.com/acme/shop', true],
  ['git.example.com/Acme', 'https://git.example.com/acme/shop', false],
  ['git.example.com/acme', 'https://git.example.com/acme/shop', true],
  ['example.com', 'https://git.example.com/acme/shop', false],
  ['git.example.com', 'https://git.example.com.evil.example/acme', false],
  ['git.example.com', 'https://git.example.com:8443/acme', false],
  ['git.example.com:8443', 'https://git.example.com:8443/acme', true],
  ['git.example.com:443', 'https://git.example.com/acme', true],
  ['git.example.com', 'git@git.example.com:acme', true],
  ['git.example.com', 'ssh://git@git.example.com:2222/acme', false],
  ['git.example.com:2222', 'ssh://git@git.example.com:2222/acme', true],
  ['git.example.com:443', 'git@git.example.com:acme', false],
  ['[2001:db8::1]:8443/acme', 'https://[2001:db8::1]:8443/acme/shop', true],
  ['a.example, git.example.com/acme ,b.example', 'https://git.example.com/acme/shop', true],
  ['', 'https://git.example.com/acme', false],
  [' , ,', 'https://git.example.com/acme', false],
  ['*', 'https://git.example.com/acme', false],
  ['*.example.com', 'https://git.example.com/acme', false],
  ['git.example.com/*', 'https://git.example.com/acme', false],
  ['https://git.example.com/acme', 'https://git.example.com/acme', false],
  ['git.example.com//acme', 'https://git.example.com/acme', false],
  ['git.example.com/..', 'https://git.example.com/acme', false],
  ['git.example.com/acme/../acme', 'https://git.example.com/acme', false],
  ['git.example.com:/acme', 'https://git.example.com/acme', false],
  ['git.example.com:0443', 'https://git.example.com/acme', true],
  ['git.example.com./acme', 'https://git.example.com/acme', false],
  // A user is one of SSH: the host's own where the entry names none.
  ['git.example.com/acme', 'git@git.example.com:acme/shop.git', true],
  ['git.example.com/acme', 'ssh://git@git.example.com/acme/shop', true],
  ['git.example.com/acme', 'evil@git.example.com:acme/shop', false],
  ['git.example.com/acme', 'ssh://evil@git.example.com/acme/shop', false],
  ['git.example.com:2222/acme', 'ssh://evil@git.example.com:2222/acme/shop', false],
  ['github.com/acme', 'org-1234@github.com:acme/shop', false],
  ['github.com', 'Git@github.com:acme/shop', false],
  ['git@git.example.com/acme', 'git@git.example.com:acme/shop', true],
  ['admin@git.example.com/acme', 'admin@git.example.com:acme/shop', true],
  ['admin@git.example.com/acme', 'ssh://admin@git.example.com/acme/shop', true],
  ['admin@git.example.com:2222', 'ssh://admin@git.example.com:2222/acme/shop', true],
  ['admin@git.example.com:2222', 'admin@git.example.com:acme/shop', false],
  ['admin@git.example.com/acme', 'Admin@git.example.com:acme/shop', false],
  ['admin@GIT.example.com/acme', 'admin@git.example.com:acme/shop', true],
  ['admin@git.example.com/acme', 'git@git.example.com:acme/shop', false],
  ['admin@git.example.com/acme', 'https://git.example.com/acme/shop', false],
  ['git@git.example.com/acme', 'https://git.example.com/acme/shop', false],
  ['admin@git.example.com:acme', 'admin@git.example.com:acme/shop', false],
  ['a@admin@git.example.com', 'admin@git.example.com:acme/shop', false],
  ['admin:pw@git.example.com', 'admin@git.example.com:acme/shop', false],
  ['@git.example.com', 'git@git.example.com:acme/shop', false],
  ['-admin@git.example.com', 'git@git.example.com:acme/shop', false],
  // A part in braces may stand for any repository of the host.
  ['bitbucket.org/acme', 'https://bitbucket.org/acme/{c3a5d5ce-0f2e-4d1c-9c1b-0d6f5b2a7e11}', false],
  ['bitbucket.org', 'https://bitbucket.org/{c3a5d5ce-0f2e-4d1c-9c1b-0d6f5b2a7e11}/shop', false],
  ['bitbucket.org/acme/{AB}', 'https://bitbucket.org/acme/{ab}.git', true],
  ['bitbucket.org/acme/{ab}.git', 'git@bitbucket.org:acme/{ab}', true],
  ['bitbucket.org/{a}', 'https://bitbucket.org/{a}/shop', true],
  ['bitbucket.org/{a}', 'https://bitbucket.org/{a}/{b}', false],
  ['bitbucket.org/{a}/{b}', 'https://bitbucket.org/{a}/{b}', true],
  ['git.example.com/acme', 'https://git.example.com/acme/{ab}/shop', false],
  ['git.example.com/acme', 'https://git.example.com/acme/x{ab}', false],
  ['git.example.com/acme', 'https://git.example.com/acme/}', false],
  ['git.example.com/{ab}', 'https://git.example.com/{AB}/shop', false],
] as const

t.test('a list covers the repositories that it names and no others', async (t) => {
  for (const [list, address, expected] of REPOSITORIES) {
    t.equal(allows(list, parseRepositoryAddress(address)), expected, `"${list}" and ${address}`)
  }
})

t.test('a malformed entry does not affect its neighbours', async (t) => {
  const address = parseRepositoryAddress('https://git.example.com/acme/shop')
  t.ok(allows('https://x, git.example.com/acme', address))
})

t.test('the first entry that can cover nothing is found, and no other', async (t) => {
  const cases = [
    ['git.example.com', undefined],
    ['GitHub.com/Acme/, [2001:db8::1]:8443/a ,git.example.com:2222/acme/shop.git', undefined],
    ['git.example.com, https://x, *', 'https://x'],
    ['git.example.com,', ''],
    ['', ''],
    ['/', '/'],
    ['git.example.com/*', 'git.example.com/*'],
    ['git.example.com/a/../b', 'git.example.com/a/../b'],
    ['git.example.com:99999', 'git.example.com:99999'],
    ['me@git.example.com/acme, git@[2001:db8::1]:2222', undefined],
    ['me@git.example.com:acme', 'me@git.example.com:acme'],
    ['me:pw@git.example.com', 'me:pw@git.example.com'],
    ['@git.example.com', '@git.example.com'],
    ['git.example.com/me@acme', 'git.example.com/me@acme'],
  ] as const
  for (const [entries, unsound] of cases) t.equal(unsoundEntry(entries), unsound, `"${entries}"`)
})

const HOSTS = [
  'git.example.com',
  'github.com',
  '[2001:db8::1]',
  '[2001:db8::2]',
  'GIT.example.com',
  'git.example.com.',
]
const PORTS = ['', ':22', ':443', ':2222']
const USERS = ['', 'git@', 'evil@', 'Git@']
const ROOTS = ['acme', 'Acme', 'acme.git', 'acme-evil', '{acme}', '%61cme', '~acme', '..', 'acme%2f..']
const NAMES = ['shop', 'SHOP', 'shop.git', 'shop.git.git', 'shop.GIT', '{shop}', 'shop%2e', '.']

/** Every way to write an address from these parts that Commitlet accepts. */
const ADDRESSES = addresses()

function addresses(): readonly RepositoryAddress[] {
  const texts = combined([HOSTS, PORTS, USERS, ROOTS, NAMES]).flatMap(([host, port, user, root, name]) => [
    `https://${user}${host}${port}/${root}/${name}`,
    `ssh://${user}${host}${port}/${root}/${name}`,
    `${user}${host}${port}:${root}/${name}`,
  ])
  return texts.flatMap((text) => {
    try {
      return [parseRepositoryAddress(text)]
    } catch {
      return []
    }
  })
}

function combined(parts: readonly (readonly string[])[]): readonly (readonly string[])[] {
  return parts.reduce<readonly (readonly string[])[]>(
    (lists, part) => lists.flatMap((list) => part.map((one) => [...list, one])),
    [[]],
  )
}

for (const [entry, pattern] of [
  ['git.example.com/acme', /^(https:\/\/|(ssh:\/\/)?git@)git\.example\.com[/:]acme\/[^{}]+$/],
  ['git.example.com/acme/shop', /^(https:\/\/|(ssh:\/\/)?git@)git\.example\.com[/:]acme\/shop(\.git)?$/],
  ['git.example.com/acme/shop.git', /^(https:\/\/|(ssh:\/\/)?git@)git\.example\.com[/:]acme\/shop(\.git)?$/],
  ['git.example.com:2222', /^(https:\/\/|ssh:\/\/git@)git\.example\.com:2222\/[^{}]+$/],
  ['evil@git.example.com/acme', /^(ssh:\/\/)?evil@git\.example\.com[/:]acme\/[^{}]+$/],
  ['git.example.com/{acme}', /^(https:\/\/|(ssh:\/\/)?git@)git\.example\.com[/:]\{acme\}\/[^{}]+$/],
  ['github.com/acme', /^(https:\/\/|(ssh:\/\/)?git@)github\.com[/:]acme\/[^{}]+$/i],
  ['[2001:db8::1]/acme', /^(https:\/\/|(ssh:\/\/)?git@)\[2001:db8::1\][/:]acme\/[^{}]+$/],
] as const) {
  t.test(`of all ways to write an address, "${entry}" covers only its own`, async (t) => {
    const covered = ADDRESSES.filter((address) => allows(entry, address)).map(({ text }) => text)
    const own = ADDRESSES.map(({ text }) => text).filter(
      (text) => pattern.test(text) && !/^Git@|\/Git@/.test(text),
    )
    t.ok(own.length > 1 && own.length < ADDRESSES.length / 4, `${own.length} of ${ADDRESSES.length}`)
    t.strictSame(covered, own)
  })
}

const PATHS = [
  ['clusters', 'clusters/a.yaml', true],
  ['clusters/', 'clusters/a.yaml', true],
  ['clusters/prod', 'clusters/prod/a/b.yaml', true],
  ['clusters/prod', 'clusters/production/a.yaml', false],
  ['clusters/prod/a.yaml', 'clusters/prod/a.yaml', true],
  ['clusters/prod/a.yaml', 'clusters/prod', false],
  ['Clusters', 'clusters/a', false],
  ['a, clusters', 'clusters/a', true],
  ['.github', '.github/workflows/x.yaml', true],
  ['', 'a', false],
  ['/', 'a', false],
  ['/a', 'a', false],
  ['.', 'a', false],
  ['./a', 'a', false],
  ['a/../b', 'a/../b', false],
  ['a//b', 'a/b', false],
  ['clusters//', 'clusters/a', false],
  ['clusters/..', 'clusters/a', false],
  ['clusters/.', 'clusters/a', false],
  ['clusters', 'clusters', true],
  ['clusters', 'Clusters/a', false],
  ['clusters', 'clusters.yaml', false],
  [' , ,', 'a', false],
  ['*', 'a', false],
] as const

t.test('a list of paths covers what is under them by whole segments', async (t) => {
  for (const [list, path, expected] of PATHS)
    t.equal(coveredPaths(list, [path]).has(path), expected, `"${list}" and ${path}`)
  const covered = coveredPaths('clusters/prod, shop/', ['shop/a', 'clusters/a', 'clusters/prod/b', 'shop/a'])
  t.same([...covered], ['shop/a', 'clusters/prod/b'])
})

t.test('a prefix that no path can begin with is named', async (t) => {
  t.equal(unsoundPrefix('clusters/prod, shop/ ,.github'), undefined)
  for (const entry of ['', '/', '/shop', './shop', 'shop/../x', 'shop//x', 'shop\\x', '.git/hooks'])
    t.equal(unsoundPrefix(`clusters, ${entry} ,shop`), entry)
})

/** Loops are up to eight times as slow where lines are counted. */
const COUNTED = 8

t.test('130,000 entries cost no more than three times what it takes to split them', async (t) => {
  const largest = 262_144
  const shape = (read: (list: string) => unknown) => (size: number) => {
    const list = Buffer.from('a,'.repeat(size / 2)).toString()
    return () => read(list)
  }
  const looked = shape((list) => coveredPaths(list, ['shop/settings.yaml']))
  const split = shape((list) => list.split(',').map((entry) => entry.trim()))
  // The compiler and the garbage collector may take part in one try.
  const most = isCounted() ? 3 * COUNTED : 3
  const isCheap = (): boolean => costOf(looked, largest) < most * costOf(split, largest)
  t.ok(Array.from({ length: 20 }).some(isCheap))
})
