import t from 'tap'
import { likelyRepository, repositoryOfPage } from '../../../functions/domain/repository/page.ts'

const PAGES: readonly (readonly [host: string, path: string, repository: string | undefined])[] = [
  ['github.com', 'acme/shop', undefined],
  ['github.com', 'acme/shop/pull/7', 'acme/shop'],
  ['acme.ghe.com', 'acme/shop/tree/main', 'acme/shop'],
  ['bitbucket.org', 'acme/shop/src/main', 'acme/shop'],
  ['gitlab.com', 'acme/web/shop', undefined],
  ['gitlab.com', 'acme/web/src/shop', undefined],
  ['gitlab.com', 'acme/web/shop/-/merge_requests/1', 'acme/web/shop'],
  ['gitlab.com', 'acme/shop/tree/main', 'acme/shop'],
  ['gitlab.com', 'acme/tree', undefined],
  ['git.example.com', 'acme/shop/tree/main', undefined],
]
const LIKELY: readonly (readonly [host: string, path: string, repository: string | undefined])[] = [
  ['git.example.com', 'acme/shop', undefined],
  ['git.example.com', 'acme/web/src', undefined],
  ['git.example.com', 'acme/shop/src/branch/main', 'acme/shop'],
  ['git.example.com', 'acme/web/shop/-/tree/main', 'acme/web/shop'],
  ['github.com', 'acme/shop/tree/main', undefined],
]

t.test('the page of a repository at a public host', async (t) => {
  for (const [host, path, repository] of PAGES)
    t.equal(repositoryOfPage(host, path.split('/'))?.join('/'), repository, `${host}/${path}`)
})

t.test('what looks like a page at any other host', async (t) => {
  for (const [host, path, repository] of LIKELY)
    t.equal(likelyRepository(host, path.split('/'))?.join('/'), repository, `${host}/${path}`)
})
