import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { readyOf } from '../harness/conditions.ts'
import { withControlPlane } from '../harness/control-plane.ts'
import type { GitRepository } from '../harness/git-repository.ts'
import { gitCommit, install, type Team } from '../harness/installation.ts'

const DOCUMENT = readFileSync(join(import.meta.dirname, '../../docs/gitcommit.md'), 'utf8')
/** The YAML of the section about files: a whole GitCommit, then lists of files. */
const [, SECTION = ''] = /\n(## Several files.*?)\n## /s.exec(DOCUMENT) ?? []
const EXAMPLES = [...SECTION.matchAll(/```yaml\n(.*?)```/gs)].map(([, text = '']) => text)

const VALUES = '# Of the shop.\nimage:\n  tag: "1.26" # the one in use\nreplicas: 2\n'
const ALL =
  'kind: Service\n---\nkind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n' +
  '        - name: proxy\n          image: proxy:1\n        - name: app # ours\n          image: shop:1\n'
const BEFORE = { 'shop/values.yaml': VALUES, 'shop/all.yaml': ALL, 'shop/old.txt': 'old\n' }
const SETTINGS = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'shop-settings' },
  data: { 'motd.txt': 'Hello,\r\nno line end', version: '1.27' },
}
const MAP = { apiVersion: 'v1', kind: 'ConfigMap', name: 'shop-settings' }

withControlPlane(t, async (t, plane) => {
  const commitlet = await install(t, plane)
  const team = await commitlet.createTeam()
  await team.apply(SETTINGS)

  async function create(name: string): Promise<GitRepository> {
    return commitlet.git.createRepository(`${team.namespace}/${name}`, { files: BEFORE })
  }

  /** Applies the spec under this name; returns what is stored once it has settled. */
  async function commit(name: string, repository: GitRepository, spec: object) {
    await team.apply(gitCommit(name, repository.url, { resourceRef: undefined, ...spec }))
    return team.settled(name)
  }

  async function changed(repository: GitRepository): Promise<readonly string[]> {
    const names = await repository.git('diff-tree', '-r', '--name-status', 'main^', 'main')
    return names
      .trim()
      .split('\n')
      .map((line) => line.replace('\t', ' '))
  }

  t.test('the whole example of the document is one commit', async (t) => {
    const example: unknown = parse(EXAMPLES[0] ?? '')
    const repository = await create('whole')
    const text = JSON.stringify(example)
      .replace('https://git.example.com/acme/config.git', repository.url)
      .replace('git-credentials', 'git')
    await team.kubectl(['apply', '-f', '-'], { input: text })
    const stored = await team.settled('shop-release')
    const { namespace } = team
    t.match(stored.status, {
      phase: 'Succeeded',
      commit: { path: `shop/${namespace}/ConfigMap-shop-settings.yaml` },
    })
    t.match(readyOf(stored), { message: /and 2 more\.$/ })
    t.same(await changed(repository), [
      'D shop/old.txt',
      `A shop/${namespace}/ConfigMap-shop-settings.yaml`,
      'M shop/values.yaml',
    ])
    t.equal(await repository.show('main:shop/values.yaml'), VALUES.replace('1.26', '1.27'))
    t.match(await repository.log(), [`Release the shop of ${namespace}`, 'Begin'])
  })

  const endings = [
    ['shop/motd.txt', SETTINGS.data['motd.txt']],
    ['shop/notes.txt', '# Shop\nDo not edit: see the GitCommit.\n'],
    ['shop/values.yaml', VALUES.replace('1.26', '1.27').replace('replicas: 2', 'replicas: 3')],
    ['shop/all.yaml', ALL.replace('shop:1', 'registry.example.com/shop:1.27')],
    ['shop/old.txt', undefined],
  ] as const
  for (const [i, [path, text]] of endings.entries()) {
    t.test(`an example of the document: ${path}`, async (t) => {
      const { files }: { files: readonly { readonly path: string }[] } = parse(EXAMPLES[i + 1] ?? '')
      t.equal(files[0]?.path, path)
      const repository = await create(`example-${i}`)
      t.match((await commit(`example-${i}`, repository, { files })).status, { phase: 'Succeeded' })
      t.match(await changed(repository), { length: 1 })
      if (text === undefined) t.same(await changed(repository), [`D ${path}`])
      else t.equal(await repository.show(`main:${path}`), text)
    })
  }

  t.test('all examples of the document are applied', async (t) => {
    t.equal(EXAMPLES.length, endings.length + 1)
  })

  t.test('two resources that change one file at the same time both hold', async (t) => {
    const repository = await create('both')
    const change = (field: string, value: unknown) => ({
      files: [{ path: 'shop/values.yaml', set: [{ field, value }] }],
    })
    const stored = await Promise.all([
      commit('one', repository, change('.replicas', 7)),
      commit('two', repository, change('.image.tag', 'next')),
    ])
    for (const { status } of stored) t.match(status, { phase: 'Succeeded' })
    t.equal(
      await repository.show('main:shop/values.yaml'),
      VALUES.replace('replicas: 2', 'replicas: 7').replace('1.26', 'next'),
    )
  })

  t.test('a value may be null, false or a list', async (t) => {
    const repository = await create('values')
    const set = [
      { field: '.replicas', value: null },
      { field: '.image.tag', value: false },
      { field: '.hosts', value: ['a', { b: 1.5 }] },
    ]
    const stored = await commit('values', repository, { files: [{ path: 'shop/values.yaml', set }] })
    t.match(stored.status, { phase: 'Succeeded' }, readyOf(stored).message)
    const text = await repository.show('main:shop/values.yaml')
    t.same(parse(text), { image: { tag: false }, replicas: null, hosts: ['a', { b: 1.5 }] })
  })

  t.test('a file that is edited in a thread is committed, too', async (t) => {
    const large = `${VALUES}${Array.from({ length: 3_000 }, (_, i) => `key${i}: value # ${i}\n`).join('')}`
    const files = { 'values.yaml': large }
    const repository = await commitlet.git.createRepository(`${team.namespace}/large`, { files })
    const set = [
      { field: '.key7', value: 'other' },
      { field: '.new', value: 1 },
    ]
    const stored = await commit('large', repository, { files: [{ path: 'values.yaml', set }] })
    t.match(stored.status, { phase: 'Succeeded' }, readyOf(stored).message)
    const after = `${large.replace('key7: value #', 'key7: other #')}new: 1\n`
    t.equal(await repository.show('main:values.yaml'), after)
  })

  t.test('a change that cannot be made leaves the branch as it is, and says why', async (t) => {
    const repository = await create('kept')
    const files = [
      { path: 'shop/new.txt', content: 'x' },
      { path: 'shop/none.yaml', set: [{ field: '.a', value: 1 }] },
    ]
    await team.apply(gitCommit('kept', repository.url, { resourceRef: undefined, files }))
    await team.waitFor('kept', 'jsonpath={.status.phase}=Retrying')
    t.match(readyOf(await team.get('kept')), {
      reason: 'PathConflict',
      message: /"shop\/none\.yaml" is not in https/,
    })
    t.same(await repository.log(), ['Begin'])
  })

  t.test('an object that is not there yet is waited for, and then all files are committed', async (t) => {
    const repository = await create('later')
    const files = [
      { path: 'a.txt', content: 'a' },
      { path: 'b.txt', resourceRef: { ...MAP, name: 'later', field: '.data.b' } },
    ]
    await team.apply(gitCommit('later', repository.url, { resourceRef: undefined, files }))
    await team.waitFor('later', 'jsonpath={.status.phase}=Retrying')
    const waiting = await team.get('later')
    t.match(waiting.status, { waitingFor: [{ field: 'spec.files[1].resourceRef' }] })
    t.match(readyOf(waiting), { message: /^spec\.files\[1\]: There is no ConfigMap/ })
    await team.apply({ ...SETTINGS, metadata: { name: 'later' }, data: { b: 'b' } })
    t.match((await team.settled('later')).status, { phase: 'Succeeded' })
    t.same(await changed(repository), ['A a.txt', 'A b.txt'])
  })

  t.test('all errors are shown at once, with the number of the entry, by the webhook', async (t) => {
    const { stderr } = await applied(team, [
      { path: 'a', resourceRef: { ...MAP, kind: 'Secret' } },
      { path: '../b', content: 'x' },
      { path: 'c', content: 'x', remove: true },
      { path: 'd', resourceRef: { ...MAP, field: '.data[*]' } },
      { path: 'e', set: [{ field: '.a' }] },
    ])
    for (const field of [
      'files[0].resourceRef.kind',
      'files[1].path',
      'files[2].remove',
      'files[3].resourceRef.field',
      'files[4].set[0]',
    ])
      t.match(stderr, `spec.${field}: `)
  })

  t.test('a requester without a right to one of the objects is denied', async (t) => {
    const valueFrom = {
      resourceRef: { ...MAP, kind: 'Namespace', name: team.namespace, field: '.metadata.name' },
    }
    const { stderr } = await applied(team, [
      { path: 'a', resourceRef: MAP },
      { path: 'b.yaml', set: [{ field: '.a', valueFrom }] },
    ])
    t.match(stderr, 'spec.files[1].set[0].valueFrom.resourceRef')
  })

  t.test('kubectl explains the fields', async (t) => {
    const { stdout } = await team.kubectl(['explain', 'gitcommit.spec.files', '--recursive'])
    for (const field of ['content', 'remove', 'set', 'mustExist', 'document', 'valueFrom'])
      t.match(stdout, field)
    const value = await team.kubectl(['explain', 'gitcommit.spec.files.set.value'])
    t.match(value.stdout, 'The new value')
  })
})

function applied(team: Team, files: readonly object[]) {
  const object = gitCommit('denied', 'https://git.example.com/acme/config.git', {
    resourceRef: undefined,
    files,
  })
  return team.applyAs(undefined, object)
}
