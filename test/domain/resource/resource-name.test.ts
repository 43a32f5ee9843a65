import t from 'tap'
import { isObjectName } from '../../../functions/domain/resource/resource.ts'

t.test('a name of most objects is a DNS subdomain', async (t) => {
  for (const name of ['a', '0', 'a-b', 'a.b', 'a-0.b-1', 'a'.repeat(253)]) t.ok(isObjectName(name), name)
  const others = ['', '-a', 'a-', '.a', 'a.', 'a..b', 'A', 'a_b', 'a/b', 'a\n', 'a%2fb', 'a'.repeat(254)]
  for (const name of others) t.notOk(isObjectName(name), encodeURI(name))
})
