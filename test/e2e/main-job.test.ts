import t from 'tap'
import { withControlPlane } from '../harness/control-plane.ts'
import { configMap, gitCommit, install } from '../harness/installation.ts'

withControlPlane(
  t,
  async (t, plane) => {
    const commitlet = await install(t, plane)

    t.test('apply a GitCommit, and the content is on the branch', async (t) => {
      const team = await commitlet.createTeam()
      const repository = await commitlet.git.createRepository(`${team.namespace}/config`, {
        files: { 'README.md': 'Settings of the shop\n' },
      })
      await team.apply(
        configMap({ colour: 'blue', answer: 'yes', 'banner.txt': 'One\nTwo\n', '10': 'ten', '9': 'nine' }),
      )
      await team.apply(gitCommit('shop', repository.url))
      await team.waitFor('shop', 'condition=Ready')
      t.equal(
        await repository.show('main:shop/settings.yaml'),
        `apiVersion: v1
kind: ConfigMap
metadata:
  name: shop
  namespace: ${team.namespace}
data:
  "10": ten
  "9": nine
  answer: "yes"
  banner.txt: |
    One
    Two
  colour: blue
`,
      )
      const { metadata, status } = await team.get('shop')
      const [log] = (await repository.git('log', '-1', '--format=%an <%ae>|%cn <%ce>|%B', 'main')).split(
        '\n\n\n',
      )
      t.equal(
        log?.trimEnd(),
        `Commitlet <commitlet@users.noreply.local>|Commitlet <commitlet@users.noreply.local>|Record the shop settings

Commitlet-Resource: ${team.namespace}/shop
Commitlet-Id: ${String(metadata.uid)}.1
Requested-by: admin`,
      )
      const sha = (await repository.git('rev-parse', 'main')).trim()
      t.match(status, {
        phase: 'Succeeded',
        attempts: 1,
        commit: { sha, shortSHA: sha.slice(0, 12), branch: 'main' },
      })
    })
  },
  { own: true },
)
