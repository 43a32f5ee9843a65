import t from 'tap'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import {
  allows,
  allowsPath,
  unsoundEntry,
  unsoundPrefix,
} from '../../../functions/domain/repository/allowed-repositories.ts'

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
  ['user@git.example.com', 'https://git.example.com/acme', false],
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
    ['me@git.example.com', 'me@git.example.com'],
  ] as const
  for (const [entries, unsound] of cases) t.equal(unsoundEntry(entries), unsound, `"${entries}"`)
})

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
  ['*', 'a', false],
] as const

t.test('a list of paths covers what is under them by whole segments', async (t) => {
  for (const [list, path, expected] of PATHS)
    t.equal(allowsPath(list, path), expected, `"${list}" and ${path}`)
})

t.test('a prefix that no path can begin with is named', async (t) => {
  t.equal(unsoundPrefix('clusters/prod, shop/ ,.github'), undefined)
  for (const entry of ['', '/', '/shop', './shop', 'shop/../x', 'shop//x', 'shop\\x', '.git/hooks'])
    t.equal(unsoundPrefix(`clusters, ${entry} ,shop`), entry)
})
