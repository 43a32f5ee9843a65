import t from 'tap'
import { movedFailure, readMoved, redirectAddress } from '../../../functions/git/output/moved.ts'
import { cpuTime } from '../../harness/cpu-time.ts'
import { allowedMs } from '../../harness/growth.ts'
import { NEW, SAID } from '../../domain/fixtures/moved-sayings.ts'

const CONTEXT = {
  url: 'https://git.example.com/acme/old.git',
  secrets: ['s3cret-of-shop'],
  deadlineSeconds: 120,
  fetchLimitMiB: 256,
}
for (const [words, address] of SAID) {
  t.test(`a repository that has moved is recognized: ${JSON.stringify(words.slice(0, 70))}`, async (t) => {
    t.strictSame(readMoved(words, CONTEXT), { address })
  })
}

t.test('other words of hosts and hooks are no such message', async (t) => {
  for (const words of [
    '',
    'Resolving deltas: 100% (1/1), done.',
    'Create a pull request for "moved" on GitHub by visiting:',
    'Repository moved to read-only mode',
    'Project board was moved to done',
    'project files moved',
    'The file a.yaml was moved to b.yaml',
    'I said: this repository moved.',
    'WARN: repository moved',
    'This repository has 3 moved files.',
    'This repository will be moved to https://git.example.com/market/new',
    'repository not found',
  ])
    t.equal(readMoved(words, CONTEXT), undefined, words)
})

t.test('text of any size is searched in a moment', async (t) => {
  const texts = ["project '", 'repository ', 'this repository moved to ', 'a: project a/', ' \t', '\n'].map(
    (part) => part.repeat(2_000_000 / part.length),
  )
  for (const text of texts) {
    const before = cpuTime()
    readMoved(text, CONTEXT)
    t.ok(
      cpuTime() - before < allowedMs(100),
      `${JSON.stringify(text.slice(0, 25))}: ${cpuTime() - before} ms`,
    )
  }
})

t.test('the new address is that of a redirect of Git, and of no other page', async (t) => {
  for (const [location, address] of [
    [`${NEW}/info/refs?service=git-upload-pack`, NEW],
    ['/market/new.git/info/refs?service=git-receive-pack', NEW],
    [`${NEW}/git-upload-pack`, NEW],
    ['https://elsewhere.example/market/new/info/refs', 'https://elsewhere.example/market/new'],
    ['https://git.example.com/login?back=/acme/old.git/info/refs', undefined],
    ['http://git.example.com/market/new.git/info/refs', undefined],
    ['https://me:s3cret-of-shop@git.example.com/market/new.git/info/refs', NEW],
    ['https://git.example.com/s3cret-of-shop/new.git/info/refs', undefined],
    [`${CONTEXT.url}/info/refs?service=git-upload-pack`, undefined],
    ['https://[/info/refs', undefined],
    [undefined, undefined],
  ] as const)
    t.equal(redirectAddress(location, CONTEXT), address, String(location))
})

t.test('a repository that has moved is not found; after a push that is final', async (t) => {
  const moved = { address: NEW }
  t.match(movedFailure(moved, CONTEXT, 'reading'), {
    reason: 'RepositoryNotFound',
    retry: 'slow',
    fallback: false,
    message: `${CONTEXT.url} has moved to ${NEW}; put the new address into spec.repository, if its commits may go there.`,
  })
  t.match(movedFailure(moved, CONTEXT, 'push'), {
    reason: 'RepositoryNotFound',
    retry: 'never',
    fallback: false,
    message: `${CONTEXT.url} has moved to ${NEW}, and its host may have written the commit there; check that repository, and put the new address into spec.repository, if its commits may go there.`,
  })
  t.match(movedFailure({ address: undefined }, CONTEXT, 'reading'), {
    message: /has moved to another address, which its host does not name; put/,
  })
})
