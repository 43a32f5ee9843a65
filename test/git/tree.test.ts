import t from 'tap'
import { blobName, pathsTo } from '../../functions/git/tree.ts'

t.test('a blob has the same name as in git', async (t) => {
  t.equal(blobName(Buffer.from([0, 255, 10])), '506cd141ad4a679eee22d6a21dd267cca5734b92')
})

t.test('a path leads through its directories', async (t) => {
  t.same(pathsTo('a/b/c'), ['a', 'a/b', 'a/b/c'])
})
