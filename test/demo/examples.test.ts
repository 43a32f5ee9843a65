import t from 'tap'
import { readExamples } from '../../demo/examples.ts'

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
