import t from 'tap'
import { readyOf } from '../harness/conditions.ts'
import { failed } from '../harness/hosts/github-commit.ts'
import { configMap, gitCommit } from '../harness/installation.ts'
import { withCommitlet } from '../harness/shared-installation.ts'
import { credentials, stage } from './github-app-stage.ts'

const isCommit = (_method: string, path: string): boolean => path === '/graphql'
const API = { commitVia: 'API' }

await withCommitlet(t, (t, commitlet) => {
  t.test('GitHub makes the commits of a GitCommit with commitVia: API, each on the one before', async (t) => {
    const { team, apps, api, repository, commit } = await stage(commitlet)
    const before = await repository.git('rev-parse', 'main')
    await team.apply(commit('one', API))
    const one = await team.settled('one')
    const sha = await repository.git('rev-parse', 'main')
    t.match(one.status, { phase: 'Succeeded', commit: { sha, branch: 'main' } }, readyOf(one).message)
    t.equal(await repository.git('rev-parse', 'main^'), before)
    t.equal(await repository.git('log', '-1', '--format=%cn <%ce>', 'main'), 'GitHub <noreply@github.com>')
    const message = await repository.git('log', '-1', '--format=%B', 'main')
    t.match(message, /^Record the shop settings\n\n(?:.+\n)*Commitlet-Id: .+/)
    t.match(await repository.show('main:shop/settings.yaml'), 'blue')
    await team.request('one')
    t.match((await team.settled('one')).status, { phase: 'Succeeded' })
    t.equal(readyOf(await team.get('one')).reason, 'UpToDate')
    const files = [
      { path: 'shop/settings.yaml', remove: true },
      { path: 'shop/other.txt', content: 'text\n' },
    ]
    await team.apply(commit('two', { ...API, files, resourceRef: undefined }))
    t.match((await team.settled('two')).status, { phase: 'Succeeded' })
    t.equal(await repository.git('ls-tree', '-r', '--name-only', 'main', 'shop'), 'shop/other.txt')
    t.strictSame(
      apps.issued.map(({ permissions }) => permissions),
      [{ contents: 'write' }],
    )
    t.strictSame(api.violations, [])
  })

  t.test('several at one branch land once each, also where an answer is lost or others write', async (t) => {
    const { team, api, repository, commit } = await stage(commitlet)
    api.fail({ kind: 'lost answer' }, isCommit)
    const happens = async (): Promise<void> => {
      await repository.commit('main', { 'a.md': 'a' }, 'Other')
    }
    api.fail({ kind: 'meanwhile', happens }, isCommit)
    const names = ['a', 'b', 'c', 'd', 'e']
    await team.apply(
      ...names.map((name) => {
        const resourceRef = { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop', path: `shop/${name}.yaml` }
        return commit(name, { ...API, message: `Write ${name}`, resourceRef })
      }),
    )
    for (const name of names) {
      const { status } = await team.settled(name)
      t.match(status, { phase: 'Succeeded' }, name)
    }
    const subjects = await repository.log('main')
    t.strictSame(
      subjects.filter((subject) => subject.startsWith('Write')).sort(),
      names.map((name) => `Write ${name}`),
    )
    t.equal(subjects.filter((subject) => subject === 'Other').length, 1)
  })

  t.test(
    'what the API cannot keep, or the host refuses, is a sentence, and nothing is written',
    async (t) => {
      const { team, api, model, repository, commit } = await stage(commitlet)
      await repository.commit('main', { 'run.sh': { mode: '100755', content: 'old' } })
      const tip = await repository.git('rev-parse', 'main')
      const runs = [{ path: 'run.sh', content: 'new' }]
      model.protections?.set('main', false)
      await team.apply(
        commit('branch', { ...API, branch: 'none' }),
        commit('mode', { ...API, files: runs, resourceRef: undefined }),
        commit('rules', API),
      )
      for (const [name, phase, reason, message] of [
        [
          'branch',
          'Retrying',
          'NotSupported',
          /^The branch none is not in https:\S+, and the API makes no branch/,
        ],
        ['mode', 'Retrying', 'NotSupported', /^The file "run.sh" in https:\S+ is executable/],
        [
          'rules',
          'Failed',
          'PushRejected',
          /refuses the commit by its API: "Repository rule violations found.*pull request/s,
        ],
      ] as const) {
        await team.waitFor(name, `jsonpath={.status.phase}=${phase}`)
        t.match(readyOf(await team.get(name)), { status: 'False', reason, message }, name)
      }
      model.protections?.clear()
      api.fail(
        { kind: 'answer', answer: failed('FORBIDDEN', 'Resource not accessible by integration') },
        isCommit,
      )
      await team.apply(configMap({ colour: 'red' }), commit('right', API))
      await team.waitFor('right', 'jsonpath={.status.phase}=Retrying', '30s')
      t.match(readyOf(await team.get('right')), {
        reason: 'PermissionDenied',
        message: /write access to contents/,
      })
      t.equal(await repository.git('rev-parse', 'main'), tip)
    },
  )

  t.test('commitVia: API that cannot work is denied at apply', async (t) => {
    const { team } = await stage(commitlet)
    const deny = async (address: string, spec: object): Promise<string> => {
      const body = JSON.stringify(gitCommit('denied', address, { credentials, ...API, ...spec }))
      const { code, stderr } = await team.kubectl(['apply', '-f', '-'], { input: body, allowFailure: true })
      t.equal(code, 1)
      return stderr
    }
    t.match(
      await deny('https://github.com/acme/shop.git', { signing: { secretName: 'app' } }),
      /commitVia: API/,
    )
    const token = { credentials: { secretName: 'app', tokenKey: 'token' } }
    t.match(
      await deny('https://gitlab.com/acme/shop.git', token),
      /spec\.commitVia: is API, which is for GitHub/,
    )
    t.match(
      await deny('https://git.example.com/acme/shop.git', token),
      /write provider: github and providerConfig/,
    )
    t.match(
      await deny('git@github.com:acme/shop.git', { credentials: { secretName: 'app' } }),
      /spec\.commitVia: is API, which takes a token over HTTPS/,
    )
  })
})
