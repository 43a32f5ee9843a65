import t from 'tap'
import { OUTAGE, ROWS } from '../../../functions/git/output/error-table.ts'
import { NOT_GIT, type ErrorMeaning } from '../../../functions/git/output/error-meaning.ts'

const context = {
  url: 'https://git.example.com/acme/shop.git',
  secrets: [],
  deadlineSeconds: 120,
  fetchLimitMiB: 256,
}

function wordsOf({ sentence: says }: ErrorMeaning): string {
  return typeof says === 'string' ? says : says(context)
}

t.test('each text continues after the address and ends the sentence', async (t) => {
  for (const row of [...ROWS, OUTAGE]) t.match(wordsOf(row), /^[a-z][^\n]+\.$/)
})

t.test('what is not a Git server has one message', async (t) => {
  t.ok(ROWS.some(({ sentence: says }) => says === NOT_GIT))
})

const outages = [
  { words: 'Internal Server Error', is: true },
  { words: 'internal error', is: true },
  { words: 'GitLab: 500 Internal Server Error', is: true },
  { words: 'GitLab: Internal API error (502)', is: true },
  { words: 'GitLab: API is not accessible', is: true },
  { words: 'Forgejo: Internal Server Error', is: true },
  { words: 'Gitea: Internal Server Connection Error', is: true },
  { words: 'GitLab: The repository is temporarily read-only. Please try again later.', is: true },
  { words: 'GitLab: Push operation timed out', is: false },
  { words: 'Write "Internal Server Error" in full', is: false },
  { words: 'GitLab: 500 words are too many', is: false },
]
for (const { words, is } of outages) {
  t.test(`"${words}" means ${is ? 'an outage' : 'something else'}`, async (t) => {
    t.equal(OUTAGE.pattern.test(words), is)
  })
}
