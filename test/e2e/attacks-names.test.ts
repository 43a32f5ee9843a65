import t from 'tap'
import { readyOf } from '../harness/conditions.ts'
import { configMap, gitCommit, TOKEN } from '../harness/installation.ts'
import type { Team } from '../harness/installation.ts'
import { applyAs } from '../harness/rights.ts'
import { withCommitlet } from '../harness/shared-installation.ts'

const ALLOWED = 'commitlet.dev/allowed-repositories'
const REFERENCE = { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path: 'shop.yaml' }
const DEVELOPER = 'dev'

/** Addresses that mean another one than they seem to, or that some reader takes for another one. */
const ADDRESSES = [
  'https://git.example.com/acme/../evil/config',
  'https://git.example.com/acme/./config',
  'https://git.example.com/acme/%2e%2e/evil',
  'https://git.example.com/acme%2fevil',
  'https://git.example.com/acme\\evil',
  'https://git.example.com\\@evil.example.com/acme',
  'https://git.example.com/ac\tme',
  'https://git.example.com/acme\n',
  'https://git.example.com//acme',
  'https://git.example.com@evil.example.com/acme',
  'https://git.example.com:token@evil.example.com/acme',
  'https://git.example.com#@evil.example.com/acme',
  'https://git.example.com?@evil.example.com/acme',
  'https://GIT.example.com/acme',
  'https://git.example.com./acme',
  'https://git.example.com:443/acme',
  'https://git.example.com:0443/acme',
  'https://gít.example.com/acme',
  'https://git。example.com/acme',
  'https://127.1/acme',
  'https://2130706433/acme',
  'https://0x7f.0.0.1/acme',
  'https://0177.0.0.1/acme',
  'https://[::ffff:127.0.0.1]/acme',
  'https://[0:0:0:0:0:0:0:1]/acme',
  'http://git.example.com/acme',
  'HTTPS://git.example.com/acme',
  'file:///etc/passwd',
  'ext::sh -c id',
  '--upload-pack=id',
  'ssh://-oProxyCommand=id/acme',
  'git@git.example.com:-acme',
  'git@git.example.com:../evil',
  'git@git.example.com:/acme',
  "git@git.example.com:acme/'x'",
  'git@git.example.com:acme;id',
  'git@git.example.com@evil.example.com:acme',
  'git@GIT.example.com:acme',
  'git@git.example.com.:acme',
  'git@gít.example.com:acme',
  'git@127.1:acme',
  'ssh://git@0x7f.0.0.1/acme',
  'ssh://git@2130706433/acme',
  'ssh://git@[::ffff:127.0.0.1]/acme',
  'ssh://git@git.example.com:22/acme',
  'ssh://git@git.example.com:2222@evil.example.com/acme',
  'ssh://git:token@git.example.com/acme',
  'ssh://-oProxyCommand=id@git.example.com/acme',
  'ssh://git@git.example.com/acme/../evil',
  '/etc',
] as const

const NAMES = ['../secrets/git', '..', '.', 'a/b', '%2e%2e', 'a%2fb', 'shop\tx', ''] as const
const NAMESPACES = ['..', '../kube-system', 'a/b', '%2e%2e', 'kube-system/../x', 'A', ''] as const
const PATHS = [
  '../x',
  '/etc/passwd',
  'a/../../x',
  '.git/config',
  '.GIT/x',
  'git~1/x',
  'a\\..\\x',
  'a//b',
  'a\u0000b',
]

withCommitlet(t, async (t, commitlet) => {
  const { git } = commitlet

  /** A namespace of a developer, with the ConfigMap. */
  async function stage(): Promise<Team> {
    const team = await commitlet.createTeam({ developers: [DEVELOPER] })
    await team.apply(configMap())
    return team
  }

  t.test('no address, name or path is taken for another one', async (t) => {
    const team = await stage()
    const refused = [
      ...ADDRESSES.map((repository) => ({ field: 'spec.repository', spec: { repository } })),
      ...NAMES.map((name) => ({
        field: 'spec.resourceRef.name',
        spec: { resourceRef: { ...REFERENCE, name } },
      })),
      ...NAMESPACES.map((namespace) => ({
        field: 'spec.resourceRef.namespace',
        spec: { resourceRef: { ...REFERENCE, namespace } },
      })),
      ...PATHS.map((path) => ({
        field: 'spec.resourceRef.path',
        spec: { resourceRef: { ...REFERENCE, path } },
      })),
      ...[...NAMES, 'git?x=1', 'git#x'].map((secretName) => ({
        field: 'spec.credentials.secretName',
        spec: { credentials: { secretName, tokenKey: 'token' } },
      })),
    ]
    for (const { field, spec } of refused) {
      const title = JSON.stringify(spec)
      const object = gitCommit('sly', 'https://git.example.com/acme/config', spec)
      const { code, stderr } = await applyAs(team, DEVELOPER, object)
      t.equal(code, 1, title)
      t.match(stderr, field, title)
      t.notMatch(stderr, /Internal error|500|panic/, title)
    }
    t.match(await team.kubectl(['get', 'gitcommits', '-o', 'name']), { stdout: /^$/ }, 'nothing is stored')
  })

  t.test('a message cannot claim what another resource has committed', async (t) => {
    const team = await stage()
    const repository = await git.createRepository(team.namespace)
    await applyAs(team, DEVELOPER, gitCommit('victim', repository.url))
    const { metadata } = await team.settled('victim')
    const id = `Commitlet-Id: ${metadata.uid}.2`
    for (const line of [id, ` ${id}`, id.toLowerCase(), `x\r${id}`, `x\u2028${id}`, `x\v${id}`]) {
      const object = gitCommit('sly', repository.url, { message: `Innocent\n\n${line}` })
      const { code, stderr } = await applyAs(team, DEVELOPER, object)
      t.equal(code, 1, encodeURI(line))
      t.match(stderr, /spec\.message:? begins line /)
    }
    await applyAs(team, DEVELOPER, gitCommit('victim', repository.url, { message: 'Two', branch: 'two' }))
    t.match(readyOf(await team.settled('victim')), { status: 'True' })
  })

  t.test('the repositories of a Secret are matched by whole segments, exact port and host', async (t) => {
    const team = await stage()
    const repository = await git.createRepository(`${team.namespace}/shop`)
    const { port } = git
    const covers: readonly (readonly [string, boolean])[] = [
      [`localhost:${port}/${team.namespace}/shop.git`, true],
      [`localhost:${port}/${team.namespace}/shop`, true],
      [` git.example.com , localhost:${port}/${team.namespace}/ `, true],
      [`LOCALHOST:${port}`, true],
      [`localhost:${port}/${team.namespace}/sho`, false],
      [`localhost:${port}/${team.namespace}/shop/more`, false],
      [`localhost:${port}/${team.namespace.toUpperCase()}/shop`, false],
      [`localhost:${port}/${team.namespace}/SHOP`, false],
      [`localhost/${team.namespace}/shop`, false],
      [`localhost:${port + 1}/${team.namespace}/shop`, false],
      [`*.localhost:${port}`, false],
      [`localhost:${port}/*`, false],
      [`localhost:${port}/../${team.namespace}/shop`, false],
      [`https://localhost:${port}/${team.namespace}/shop`, false],
      ['localhost', false],
      ['', false],
    ]
    for (const [index, [list, allowed]] of covers.entries()) {
      const secret = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'git', annotations: { [ALLOWED]: list } },
      }
      await team.apply({ ...secret, stringData: { token: TOKEN } })
      const before = git.requests.length
      await team.apply(gitCommit(`c${index}`, repository.url))
      const ready = readyOf(await team.settled(`c${index}`))
      t.equal(ready.status, allowed ? 'True' : 'False', list)
      if (allowed) continue
      t.equal(ready.reason, 'ReferenceForbidden', list)
      t.equal(git.requests.length, before, `nothing was sent: ${list}`)
    }
  })
})
