import t from 'tap'
import { Failure } from '../../functions/domain/failure.ts'
import { throughAPI } from '../../functions/git/api-remote.ts'
import { chooseEngine, type HandOver } from '../../functions/git/engine-choice.ts'
import { openMemory } from '../../functions/git/direct/memory.ts'
import { ofBranch } from '../../functions/git/direct/of-branch.ts'
import { protocolError } from '../../functions/git/protocol/protocol-error.ts'
import type { Engine, Remote, RemoteTarget, Tip } from '../../functions/git/remote.ts'
import { land } from '../../functions/git/writer/land.ts'
import { addressOf, changeOf, endingsOf, loginOf, outcomeOf, patience, pending, REACHED } from './stage.ts'
import { memoryRepository, URL } from './writer/memory-remote.ts'

const TARGET: RemoteTarget = {
  address: addressOf(URL),
  route: REACHED,
  login: loginOf('token'),
  signal: patience(),
  branch: 'main',
  namespace: 'shop',
}

/** An engine on a repository in memory, of which some functions are replaced; counts its sessions. */
function engineOn(
  repository: ReturnType<typeof memoryRepository>,
  replaced: (remote: Remote) => Partial<Remote>,
) {
  const opened: string[] = []
  const engine: Engine = {
    async open({ address }) {
      opened.push(address.text)
      const remote = repository.open()
      return { ...remote, ...replaced(remote) }
    },
    close: () => Promise.resolve(),
  }
  return { engine, opened }
}

function stageOf(replaced: (remote: Remote) => Partial<Remote>, repository = memoryRepository()) {
  const direct = engineOn(repository, replaced)
  const binary = engineOn(repository, () => ({}))
  const told: HandOver[] = []
  const engine = chooseEngine({ direct: direct.engine, binary: binary.engine }, (one) => void told.push(one))
  async function push(target: Partial<RemoteTarget> = {}) {
    const remote = await engine.open({ ...TARGET, ...target })
    const batch = [pending(changeOf(URL, `${Math.random()}.md`))]
    const [ended] = await endingsOf(batch, land(remote, { batch, signal: patience() }))
    await remote.close()
    return ended
  }
  return { repository, direct, binary, told, engine, push }
}

const decline = (): never => {
  throw new Error('it has no filters')
}

t.test('the words of a server are not told as the reason of a hand-over', async (t) => {
  const { push, told } = stageOf(() => ({
    push: () => Promise.reject(protocolError('REMOTE', 'words of the server')),
  }))
  t.match(await push(), { outcome: 'pushed' })
  t.same(told, [{ url: URL, why: 'the server reports an error' }])
})

t.test('a repository that the direct engine can write never meets the git binary', async (t) => {
  const { push, binary, told, repository } = stageOf(() => ({}))
  t.match(await push(), { outcome: 'pushed' })
  t.same([binary.opened, told], [[], []])
  t.equal(repository.opened, 0)
})

for (const name of ['readTip', 'push'] as const)
  t.test(
    `what the direct engine cannot do at ${name} is done by the git binary, also next time`,
    async (t) => {
      const { push, direct, binary, told, repository } = stageOf(() => ({ [name]: async () => decline() }))
      t.match(await push(), { outcome: 'pushed' })
      t.match(await push({ branch: 'other', namespace: 'bank' }), { outcome: 'pushed' })
      t.equal(repository.log().length, 3)
      t.same(told, [{ url: URL, why: 'it has no filters' }])
      t.same([direct.opened.length, binary.opened.length], [1, 2])
      t.equal(repository.opened, 0, 'every session is closed')
    },
  )

t.test('the engine that has taken over says when the session has to end', async (t) => {
  const repository = memoryRepository()
  const { signal } = new AbortController()
  const direct = engineOn(repository, () => ({ readTree: async () => decline() }))
  const binary = engineOn(repository, () => ({ signal }))
  const remote = await chooseEngine({ direct: direct.engine, binary: binary.engine }).open(TARGET)
  const terms = { login: TARGET.login, signal: TARGET.signal }
  const withAPI = throughAPI(remote, () => Promise.reject(new Error('No commit is made here')), terms)
  t.not(withAPI.signal, signal)
  const tip = await withAPI.readTip({ branch: 'main' })
  if (tip === 'moved') return t.fail('the branch has moved')
  await withAPI.readTree(tip, ['a.md'])
  t.equal(remote.signal, signal)
  t.equal(withAPI.signal, signal)
})

t.test('what a change needs the git binary for says nothing of the next one', async (t) => {
  for (const name of ['readTree', 'writeCommits'] as const) {
    const { push, direct, binary, told, repository } = stageOf(() => ({ [name]: async () => decline() }))
    t.match(await push(), { outcome: 'pushed' })
    t.match(await push(), { outcome: 'pushed' })
    t.equal(told.length, 2)
    t.same([direct.opened.length, binary.opened.length], [2, 2], name)
    t.equal(repository.opened, 0, 'every session is closed')
  }
})

type Replaced = (remote: Remote, begin: () => void) => Partial<Remote>
const readingTips: Replaced = (remote, begin) => ({
  async readTip(wanted) {
    begin()
    return remote.readTip(wanted)
  },
})
const readingTrees: Replaced = (remote, begin) => ({
  async readTree(tip, paths) {
    begin()
    return remote.readTree(tip, paths)
  },
})

t.test('a branch that cannot be read says nothing of other branches', async (t) => {
  for (const replaced of [readingTips, readingTrees]) {
    let begun = 0
    const { push, direct, binary } = stageOf((remote) =>
      replaced(remote, () => {
        begun += 1
        if (begun === 1) throw ofBranch('its pack cannot be read here')
      }),
    )
    for (const branch of ['large', 'main', undefined, 'large'])
      t.match(await push({ branch }), { outcome: 'pushed' })
    t.same([direct.opened.length, binary.opened.length], [3, 2])
  }
})

t.test('what one login cannot do by the direct engine says nothing of another', async (t) => {
  let declined = 0
  const { push, binary } = stageOf((remote) => ({
    readTip: async (wanted) => ((declined += 1) === 1 ? decline() : remote.readTip(wanted)),
  }))
  t.match(await push({ login: loginOf('reader') }), { outcome: 'pushed' })
  t.match(await push({ login: loginOf('writer') }), { outcome: 'pushed' })
  t.equal(binary.opened.length, 1)
  t.match(await push({ login: loginOf('reader') }), { outcome: 'pushed' })
  t.equal(binary.opened.length, 2)
})

t.test('a session that cannot be opened is handed over, too', async (t) => {
  const repository = memoryRepository()
  const binary = engineOn(repository, () => ({}))
  const engine = chooseEngine({
    direct: { ...binary.engine, open: async () => decline() },
    binary: binary.engine,
  })
  const remote = await engine.open(TARGET)
  t.match(await remote.readTip({ branch: 'main' }), { commit: repository.tip() })
})

t.test('a search is handed over with its tip, unless the branch moves meanwhile', async (t) => {
  const { engine, repository } = stageOf(() => ({ findLanded: async () => decline() }))
  const sha = repository.commit({ 'a.md': 'a' }, { message: 'A\n\nCommitlet-Id: 1\n' })
  const search = async (between: () => void) => {
    const remote = await engine.open(TARGET)
    const tip = await remote.readTip({ branch: 'main', since: new Date() })
    if (tip === 'moved') throw new Error('Nobody else is at work here')
    between()
    return outcomeOf(remote.findLanded(tip, [{ id: '1', paths: ['a.md'] }]))
  }
  t.same(await search(() => undefined), [sha])
  const other = stageOf(() => ({ findLanded: async () => decline() }))
  const remote = await other.engine.open(TARGET)
  const tip = await remote.readTip({ branch: 'main' })
  other.repository.commit({ 'b.md': 'b' })
  if (tip === 'moved') throw new Error('Nobody else is at work here')
  t.match(await outcomeOf(remote.findLanded(tip, [])), {
    reason: 'Conflict',
    message: /moved while it was read/,
  })
})

t.test('what is handed over on a remembered tip begins again where that is old', async (t) => {
  const repository = memoryRepository()
  const old: Tip = { branch: 'main', commit: repository.tip(), exists: true, remembered: true }
  const { push, binary } = stageOf(
    () => ({
      readTip: async () => old,
      readTree: async () => new Map(),
      writeCommits: async () => decline(),
    }),
    repository,
  )
  repository.commit({ 'b.md': 'b' })
  t.match(await push(), { outcome: 'pushed' })
  t.equal(binary.opened.length, 1)
  t.equal(repository.log().length, 3)
})

t.test('a verdict of the direct engine stands', async (t) => {
  const failure = new Failure('AuthenticationFailed', 'The token is wrong.')
  for (const name of ['readTip', 'readTree', 'push'] as const) {
    const { push, binary, told } = stageOf(() => ({ [name]: () => Promise.reject(failure) }))
    t.equal(await push(), failure)
    t.same([binary.opened, told], [[], []])
  }
})

t.test('a session whose time is over is not handed over', async (t) => {
  const { push, binary, told } = stageOf(() => ({ readTip: async () => decline() }))
  t.match(await push({ signal: AbortSignal.abort() }), { reason: 'Timeout' })
  t.same([binary.opened, told], [[], []])
})

t.test('a lack of memory is handed over, but not remembered', async (t) => {
  const { push, direct, told } = stageOf(() => ({
    readTip: async () => {
      openMemory().shareOf('shop').take(Number.MAX_SAFE_INTEGER)
      return 'moved'
    },
  }))
  t.match(await push(), { outcome: 'pushed' })
  t.match(await push(), { outcome: 'pushed' })
  t.equal(direct.opened.length, 2)
  t.equal(told.length, 2)
})

t.test('an error of the git binary is not handed over again', async (t) => {
  const repository = memoryRepository()
  const broken = engineOn(repository, () => ({ readTip: async () => decline() }))
  const engine = chooseEngine({ direct: broken.engine, binary: broken.engine })
  const remote = await engine.open(TARGET)
  await t.rejects(remote.readTip({ branch: 'main' }), { message: 'it has no filters' })
  t.equal(broken.opened.length, 2)
})
