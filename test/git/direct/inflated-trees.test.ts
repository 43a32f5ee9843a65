import t from 'tap'
import type { Change } from '../../../functions/domain/commit/change.ts'
import { isBusy, openMemory, openObjects, type Take } from '../../../functions/git/direct/memory.ts'
import { isOfBranch } from '../../../functions/git/direct/of-branch.ts'
import { fetchObjects, type DirectSession } from '../../../functions/git/direct/session.ts'
import { rememberWays } from '../../../functions/git/direct/tree-ways.ts'
import { makeObject, type GitObject } from '../../../functions/git/objects/object.ts'
import { startPack } from '../../../functions/git/objects/pack-writer.ts'
import { FLUSH, packet } from '../../../functions/git/protocol/pkt-line.ts'
import type { Files } from '../../harness/git-repository.ts'
import { changeOf, loginOf, openStage, PASSWORD, patience } from '../stage.ts'
import { NO_TIPS } from './no-tips.ts'

const MIB = 1024 * 1024
const stage = await openStage()
t.teardown(() => stage.close())
const { server } = stage

/** So many files in one folder, with names of so many bytes that compress to next to nothing. */
function longNames(files: number, length: number): Files {
  const nameOf = (i: number): string => `wide/${String(i).padStart(5, '0').padEnd(length, 'x')}`
  return Object.fromEntries(Array.from({ length: files }, (_, i) => [nameOf(i), 'x']))
}

/** Pushes changes one by one, and says which engines each has used. */
function openWriter() {
  const told: string[] = []
  const writer = stage.open({ handedOver: ({ why }) => void told.push(why) })
  async function enginesOf(change: Change): Promise<string> {
    const engines: string[] = []
    const engineChosen = (engine: string): void => void engines.push(engine)
    const { outcome } = await writer.push(change, loginOf(PASSWORD), patience(), { engineChosen })
    return [outcome, ...engines].join(' ')
  }
  return { told, enginesOf }
}

t.test('a folder of 3,000 files with long names is read by the direct engine', async (t) => {
  const { url, ...repository } = await server.createRepository('inflated/folder')
  await repository.commit('main', longNames(3_000, 250))
  const { told, enginesOf } = openWriter()
  t.equal(await enginesOf(changeOf(url, 'apps/a.md')), 'pushed direct')
  t.equal(await enginesOf(changeOf(url, 'wide/a.md')), 'pushed direct')
  t.same(told, [])
})

t.test(
  'a branch with more than trees may have by their names is for the git binary where these are changed',
  async (t) => {
    const { url, ...repository } = await server.createRepository('inflated/branch')
    await repository.git('branch', 'wide', 'main')
    await repository.commit('wide', longNames(2_200, 4_000))
    const { told, enginesOf } = openWriter()
    const ofBranch = (branch: string | undefined, path: string) => changeOf(url, path, { branch })
    t.equal(await enginesOf(ofBranch('wide', 'apps/a.md')), 'pushed direct')
    const [first = ''] = Object.keys(longNames(1, 4_000))
    t.equal(await enginesOf(ofBranch('wide', first)), 'pushed direct binary')
    t.equal(await enginesOf(ofBranch('wide', 'apps/b.md')), 'pushed direct')
    t.equal(await enginesOf(ofBranch('main', 'apps/a.md')), 'pushed direct')
    t.equal(await enginesOf(ofBranch(undefined, 'apps/b.md')), 'pushed direct')
    t.same(told, ['a directory cannot be read here'])
  },
)

t.test(
  'a folder that is too large for the direct engine is for the git binary where it is changed',
  async (t) => {
    const { url, ...repository } = await server.createRepository('inflated/changed')
    await repository.commit('main', longNames(8_000, 250))
    const { enginesOf } = openWriter()
    const [first] = Object.keys(longNames(1, 250))
    t.equal(await enginesOf(changeOf(url, first ?? '')), 'pushed direct binary')
    t.equal(await enginesOf(changeOf(url, 'apps/a.md')), 'pushed direct')
  },
)

t.test(
  'no file is added to a folder that is as large as the direct engine reads, by either engine',
  async (t) => {
    const { url, ...repository } = await server.createRepository('inflated/full')
    const files = longNames(7_543, 250)
    await repository.commit('main', files)
    const { told, enginesOf } = openWriter()
    const full = {
      reason: 'NotSupported',
      retry: 'slow',
      message: /^The folder "wide" of \S+full\.git holds so many/,
    }
    t.equal(await enginesOf(changeOf(url, 'wide/a.md')), 'pushed direct', 'there is room for a short name')
    await t.rejects(enginesOf(changeOf(url, `wide/${'a'.repeat(250)}`)), full)
    await t.rejects(enginesOf(changeOf(url, `wide/${'b'.repeat(250)}/c.md`)), full, 'nor is a folder')
    const [first = ''] = Object.keys(files)
    t.equal(await enginesOf(changeOf(url, first)), 'pushed direct', 'what is there changes')
    t.same(told, [])
    await repository.commit('main', { ...files, ...longNames(7_600, 250) })
    await t.rejects(enginesOf(changeOf(url, 'wide/b.md')), full)
    t.equal(await enginesOf(changeOf(url, first, { text: 'y' })), 'pushed direct binary')
    t.equal(told.length, 2)
  },
)

/** Fetches a pack of one tree of so many zeros; `taken`: bytes of the memory that all sessions share. */
async function fetchZeros(bytes: number, room = Infinity) {
  const tree: GitObject = makeObject('tree', Buffer.alloc(bytes))
  const pack = startPack()
  await pack.add(tree)
  const parts = (await pack.finish()).map((part) => packet(Buffer.concat([Buffer.of(1), part])))
  const answer = Buffer.concat([packet('packfile\n'), ...parts, FLUSH])
  const memory = openMemory()
  const share = memory.shareOf('shop')
  let taken = 0
  const take: Take = (count) => {
    taken += count
    return share.take(taken > room ? Number.MAX_SAFE_INTEGER : count)
  }
  const session: DirectSession = {
    channel: {
      ask: async (_question, read) => read(answer),
      push: () => Promise.reject(new Error('pushed')),
      tellsUnborn: () => Promise.resolve(false),
      askToPush: () => Promise.reject(new Error('asked')),
      close: async () => {},
    },
    context: { url: 'https://h/r', secrets: [], proxied: false, deadlineSeconds: 1, fetchLimitMiB: 64 },
    signal: new AbortController().signal,
    share: { ...share, take },
    objects: openObjects(memory, { owner: 'me', namespace: 'shop', take: share.take }),
    tips: NO_TIPS,
    way: rememberWays()('r', 'me', 'shop'),
  }
  const ended: unknown = await fetchObjects(session, {
    wants: [tree.id],
    filter: 'blob:none',
    depth: 1,
  }).catch((error: unknown) => error)
  return { ended, taken }
}

t.test('trees may have 8 MiB, however few bytes of a pack they are', async (t) => {
  const { ended } = await fetchZeros(8 * MIB)
  t.notOk(ended instanceof Error, String(ended))
  t.ok(isOfBranch((await fetchZeros(8 * MIB + 1)).ended))
})

t.test(
  'a pack takes what its objects have of the memory that all sessions share, as they are read',
  async (t) => {
    const { taken } = await fetchZeros(MIB)
    t.ok(taken >= MIB && taken < MIB + 128 * 1024, `${taken} bytes`)
    const refused = await fetchZeros(MIB, MIB / 2)
    t.ok(isBusy(refused.ended), 'where too little is left, that is no verdict on the branch')
  },
)
