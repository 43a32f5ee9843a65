import t from 'tap'
import { withoutUser } from '../../functions/domain/redact.ts'

const TABLE = [
  ['git.example.com/acme', 'git.example.com/acme'],
  ['https://me:pw@git.example.com', '***@git.example.com'],
  ['me:p@w@git.example.com', '***@git.example.com'],
  ['me:p\nw@git.example.com', '***@git.example.com'],
  ['@', '***@'],
  [`git.example.com/ghp_${'16C7e42F292c'.repeat(3)}/..`, '***'],
  ['', ''],
] as const

t.test('what comes before the last @ of an entry is not shown', async (t) => {
  for (const [entry, shown] of TABLE) t.equal(withoutUser(entry), shown)
})
