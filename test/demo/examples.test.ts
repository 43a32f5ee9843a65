import t from 'tap'
import { changedExample, readExamples } from '../../demo/examples.ts'

t.test("the examples come with the demo's host and token, Secrets first", async (t) => {
  const examples = await readExamples('localhost:4711', 'the-token')
  const texts = examples.map(({ text }) => text).join('')
  t.notMatch(texts, 'git.example.com')
  t.notMatch(texts, 'replace-with-your-token')
  t.match(texts, 'repository: https://localhost:4711/acme/config.git')
  t.match(texts, 'commitlet.dev/allowed-repositories: localhost:4711/acme\n')
  t.equal(examples[0]?.file, '1-secret.yaml')
  t.match(examples[0]?.objects, [{ kind: 'Secret', stringData: { token: 'the-token' } }])
  const commits = examples.flatMap(({ objects }) => objects).filter(({ kind }) => kind === 'GitCommit')
  t.same(commits.map(({ metadata }) => metadata.name).sort(), [
    'shop-deployment',
    'shop-features',
    'shop-settings',
  ])
})

t.test('unchanged examples may be run', async (t) => {
  t.equal(await changedExample(), undefined)
})

const SECRET = `apiVersion: v1
kind: Secret
metadata: { name: s, annotations: { commitlet.dev/allowed-repositories: "git.example.com/acme, ELSE" } }
`
const COMMIT = `apiVersion: commitlet.dev/v1
kind: GitCommit
metadata: { name: c }
spec: { repository: "ELSE" }
`

for (const [title, text, refused] of [
  ['another allowed repository', SECRET.replace('ELSE', 'github.com/acme'), true],
  ['an allowed host that begins the same', SECRET.replace('ELSE', 'git.example.com.acme.dev'), true],
  ['a further path of the placeholder', SECRET.replace('ELSE', 'git.example.com'), false],
  ['another repository', COMMIT.replace('ELSE', 'https://github.com/acme/config.git'), true],
  ['a host that begins the same', COMMIT.replace('ELSE', 'https://git.example.com.acme.dev/x'), true],
  ['no repository', COMMIT.replace('spec: { repository: "ELSE" }\n', ''), true],
  ['another repository of the placeholder', COMMIT.replace('ELSE', 'https://git.example.com/x'), false],
] as const) {
  t.test(`${title} ${refused ? 'is refused, naming the file' : 'may be run'}`, async (t) => {
    const complaint = await changedExample(
      t.testdir({ '0-a.yaml': 'kind: X\napiVersion: v1\nmetadata: { name: x }\n', '1-b.yaml': text }),
    )
    if (refused) t.match(complaint, /^examples\/1-b\.yaml no longer names git\.example\.com, [^\n]*\.$/)
    else t.equal(complaint, undefined)
  })
}
