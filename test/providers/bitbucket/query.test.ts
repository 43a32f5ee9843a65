import t from 'tap'
import { queryOf } from '../../../functions/providers/bitbucket/query.ts'

const BRANCHES = { base: 'main', head: 'a"b\\c', headOwner: undefined }
const JOINED = String.raw`source.branch.name = "a\"b\\c" AND destination.branch.name = "main"`
const UUID = '{0a0a0a0a-1111-2222-3333-444444444444}'

t.test('those of the repository itself are requested, of every state', async (t) => {
  const query = queryOf({ branches: BRANCHES, among: 'all', repository: ['Acme', 'Shop'] })
  t.equal(query, `${JOINED} AND source.repository.full_name = "acme/shop"`)
})

t.test('a repository is queried by its UUID where it is named so', async (t) => {
  for (const workspace of ['acme', UUID]) {
    const query = queryOf({ branches: BRANCHES, among: 'all', repository: [workspace, UUID.toUpperCase()] })
    t.equal(query, `${JOINED} AND source.repository.uuid = "${UUID}"`)
  }
})

t.test('a slug in a workspace that is named by its UUID cannot be queried', async (t) => {
  t.equal(queryOf({ branches: BRANCHES, among: 'all', repository: [UUID, 'shop'] }), JOINED)
})

t.test('open is every state that is not a final one, drafts included', async (t) => {
  const query = queryOf({ branches: BRANCHES, among: 'open', repository: [UUID, 'shop'] })
  t.equal(query, `${JOINED} AND state != "MERGED" AND state != "DECLINED" AND state != "SUPERSEDED"`)
})
