import t from 'tap'
import { parseRepositoryAddress } from '../../../functions/domain/repository/address.ts'
import { branchKey, rememberDefaultBranches } from '../../../functions/git/group-commit/queue/branch-place.ts'

function targetOf(text: string, branch?: string, namespace = 'shop') {
  return { repository: parseRepositoryAddress(text), branch, namespace }
}

t.test('one branch has one key, whatever its address is written as', (t) => {
  const keyOf = (text: string, branch?: string): string => branchKey(targetOf(text, branch))
  const key = keyOf('https://git.example.com/acme/shop', 'main')
  for (const text of [
    'https://git.example.com/acme/shop.git',
    'https://git.example.com/Acme/SHOP.git',
    'git@git.example.com:acme/shop.git',
    'ssh://deploy@git.example.com/acme/shop',
  ])
    t.equal(keyOf(text, 'main'), key, text)
  for (const [text, branch] of [
    ['https://git.example.com:8443/acme/shop', 'main'],
    ['https://git.example.org/acme/shop', 'main'],
    ['https://git.example.com/acme/shop/x', 'main'],
    ['https://git.example.com/acme/shop', 'Main'],
    ['https://git.example.com/acme/shop', undefined],
  ] as const)
    t.not(keyOf(text, branch), key, `${text} ${branch}`)
  t.end()
})

t.test(
  'a default branch has its name once a change has been written to it, for each namespace by itself',
  (t) => {
    const branches = rememberDefaultBranches()
    const target = targetOf('https://git.example.com/acme/shop')
    t.equal(branches.named(target).branch, undefined)
    branches.found(targetOf('https://git.example.com/acme/shop', 'other'), 'other')
    t.equal(branches.named(target).branch, undefined, 'that of a change that names one says nothing')
    branches.found(target, 'main')
    t.equal(branches.named(targetOf('git@git.example.com:acme/Shop.git')).branch, 'main')
    t.equal(branches.named(targetOf('https://git.example.com/acme/shop', 'other')).branch, 'other')
    t.equal(branches.named({ ...target, namespace: 'market' }).branch, undefined)
    for (let i = 0; i < 10_000; i += 1) {
      branches.found(targetOf(`https://git.example.com/evil/${i}`, undefined, 'evil'), 'x')
      branches.named(target)
    }
    t.equal(branches.named(target).branch, 'main', 'another namespace makes it forget nothing')
    t.equal(branches.named(targetOf('https://git.example.com/evil/0', undefined, 'evil')).branch, undefined)
    t.end()
  },
)
