import t from 'tap'
import { github } from './github.ts'
import { hostAPI } from './hosted-api.ts'
import { memoryModel } from './model.ts'

t.test('an API serves its repository, and at its own path also requests about no repository', (t) => {
  const model = memoryModel({ repository: ['acme', 'shop'] })
  const below = hostAPI(github, model, () => 'https://localhost')
  const atTop = hostAPI({ ...github, apiPath: '' }, model, () => 'https://localhost')
  const table = [
    ['/api/v3/repos/acme/shop/pulls?state=open', true, false],
    ['/api/v3/repos/Acme/Shop', true, false],
    ['/api/v3/repos/acme/shop-evil/pulls', false, false],
    ['/api/v3/repositories/1/pulls', true, false],
    ['/repos/acme/shop/pulls', false, true],
    ['/acme/shop.git/info/refs?service=git-upload-pack', false, false],
  ] as const
  for (const [path, servedBelow, servedAtTop] of table) {
    t.equal(below.serves(path), servedBelow, path)
    t.equal(atTop.serves(path), servedAtTop, path)
  }
  t.end()
})
