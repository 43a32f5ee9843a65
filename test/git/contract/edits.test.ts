import t from 'tap'
import { editText } from '../../../functions/domain/edit/edit-text.ts'
import { parseFieldPath } from '../../../functions/domain/field-path/field-path.ts'
import { land } from '../../../functions/git/writer/land.ts'
import type { Fault, Target } from '../../harness/git-faults.ts'
import type { GitRepository } from '../../harness/git-repository.ts'
import { sample } from '../../harness/sample.ts'
import { engineTest } from './engine-test.ts'
import { changeOf, endingsOf, ENGINES, openStage, patience, pending, type EngineName } from '../stage.ts'

// Edits of real files, in each format, through each fault, by both engines: none is lost, and none is made twice.
const stage = await openStage()
t.teardown(() => stage.close())
const { server } = stage

const FORMATS = {
  'values.yaml': [
    '# c\nlist: &a [1]\nn: 0 # d\nm: 0\nother: 1\n',
    '# c\nlist: &a [1]\nn: 1 # d\nm: 2\nother: 1\n',
  ],
  'values.json': ['{"n": 0,\n "m":0, "other": 1}', '{"n": 1,\n "m":2, "other": 1}'],
} as const
type Path = keyof typeof FORMATS

/** Sets one field of the file. */
function setting(repository: GitRepository, path: Path, field: string, digits: string) {
  const set = [{ field: parseFieldPath(field), value: { digits } }]
  const edit = (before: Uint8Array) => editText(before, { filePath: path, set })
  return changeOf(repository.url, path, { files: [{ path, edit }] })
}

/** What happens at the first push, and what another writer does to the file meanwhile. */
interface Case {
  readonly fault?: Fault
  readonly another?: true
  readonly hook?: string
}

// It is read for each push, and refuses those that have this name in a message.
const REFUSAL =
  'while read old new ref; do if git log --format=%B $old..$new | grep -q refused; then echo "no" >&2; exit 1; fi; done'

const CASES: Readonly<Record<string, Case>> = {
  nothing: {},
  'a lost race': { another: true },
  'a lost answer': { fault: { kind: 'lost' } },
  'a refused neighbour': { hook: REFUSAL },
}

async function landBoth(engine: EngineName, path: Path, { fault, another, hook }: Case) {
  const name = `edits/${engine.length}-${path}-${fault?.kind ?? ''}${another ?? ''}${hook?.length ?? ''}`
  const [before] = FORMATS[path]
  const hooks = hook === undefined ? {} : { 'pre-receive': hook }
  const repository = await server.createRepository(name, { files: { [path]: before }, hooks })
  const target: Target = { repository: name, exchange: 'receive-pack', times: 1 }
  if (fault !== undefined) t.teardown(server.faults.add(fault, target))
  const held = Promise.withResolvers<undefined>()
  const hold: Fault = { kind: 'hold', when: 'before', until: held.promise }
  const first = engine === 'direct' ? 'receive-pack' : 'receive-pack-refs'
  if (another) t.teardown(server.faults.add(hold, { ...target, exchange: first }))
  const refused = { ...setting(repository, path, '.n', '9'), message: 'refused\n' }
  const changes = [
    setting(repository, path, '.n', '1'),
    ...(hook === undefined ? [] : [refused]),
    setting(repository, path, '.m', '2'),
  ]
  const batch = changes.map((change) => pending(change))
  const landing = stage.remote(engine, repository.url, (remote) =>
    endingsOf(batch, land(remote, { batch, signal: patience() })),
  )
  if (another) await repository.commit('main', { [path]: before.replace(/(other"?: )1/, '$17') })
  held.resolve(undefined)
  return { repository, endings: await landing }
}

for (const engine of ENGINES) {
  const test = engineTest(t, engine)
  for (const [title, made] of Object.entries(CASES))
    for (const path of sample(['values.yaml', 'values.json'] as const, () => `${engine}: ${title}`))
      test(`two edits of ${path} both hold through ${title}`, async (t) => {
        const { repository, endings } = await landBoth(engine, path, made)
        const landed = endings.filter((ending) => ending !== undefined && 'outcome' in ending)
        t.equal(landed.length, 2)
        t.equal(endings.length, made.hook === undefined ? 2 : 3)
        const after = FORMATS[path][1]
        const expected = made.another ? after.replace(/(other"?: )1/, '$17') : after
        t.equal(await repository.git('show', `main:${path}`), expected.trimEnd())
        const own = (await repository.log('main')).filter((subject) => subject.startsWith('Write'))
        t.equal(own.length, 2, 'none is made twice')
      })
}
