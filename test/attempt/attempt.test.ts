import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { handle } from '../../functions/attempt/attempt.ts'
import { openClaimKeeper } from '../../functions/attempt/claim-keeper.ts'
import { readEvent } from '../../functions/domain/event/cloud-event.ts'
import { appliedEvent } from '../../functions/domain/event/applied-event.ts'
import { CONFLICT } from '../../functions/cluster/cluster.ts'
import { envelopeOf } from '../../functions/domain/resource/envelope.ts'
import { Failure } from '../../functions/domain/failure.ts'
import type { Status } from '../../functions/domain/resource/stored-status.ts'
import { finder } from '../../functions/attempt/find.ts'
import type { MemoryWorld } from '../harness/memory-world.ts'
import { gitCommit, memoryWorld, pullRequest } from '../harness/memory-world.ts'

const REF = { kind: 'GitCommit', namespace: 'team', name: 'shop' } as const

const EVENT_HEADERS = {
  'ce-specversion': '1.0',
  'ce-id': 'id',
  'ce-source': 'test',
  'ce-type': 'dev.commitlet.gitcommit.applied',
}

function send(world: MemoryWorld, ref: Parameters<typeof handle>[0] = REF): Promise<void> {
  return handle(ref, finder(world.cluster, { reads: 8, waits: 8 }), world)
}

function statusOf(world: MemoryWorld, kind = 'GitCommit'): Status | undefined {
  return world.cluster.get(kind, 'team', 'shop')?.status as Status | undefined
}

t.test('a fresh resource is claimed, pushed once and succeeds', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit())
  world.land = async () => {
    t.match(statusOf(world), {
      phase: 'Progressing',
      observedGeneration: 1,
      nextAttemptTime: '2026-03-01T10:00:30Z',
    })
    return { outcome: 'pushed', sha: '0123456789abcdef'.repeat(2) + '01234567', branch: 'main' }
  }
  await send(world)
  t.equal(world.pushed.length, 1)
  t.match(statusOf(world), {
    phase: 'Succeeded',
    observedGeneration: 1,
    attempts: 1,
    credentialsUsed: 'Primary',
    commit: { shortSHA: '0123456789ab', branch: 'main', path: 'shop/settings.yaml' },
    conditions: [{ type: 'Ready', status: 'True', reason: 'Succeeded' }],
  })
  t.match(world.cluster.notices, [{ type: 'Normal', reason: 'Succeeded' }])
  t.match(world.logged, [{ msg: 'attempt succeeded', namespace: 'team', name: 'shop', reason: 'Succeeded' }])
})

t.test('an attempt at a host of INSECURE_HOSTS says so in its line, others do not', async (t) => {
  const world = memoryWorld()
  const insecureHosts = [{ host: 'git.example.com', port: undefined }]
  const insecure = { ...world, settings: { ...world.settings, insecureHosts } }
  for (const [repository, name] of [
    ['http://git.example.com/acme/shop.git', 'plain'],
    ['https://git.example.com/acme/shop.git', 'unverified'],
    ['https://other.example.com/acme/shop.git', 'other'],
  ] as const) {
    const resource = gitCommit({ repository })
    world.cluster.apply({ ...resource, metadata: { ...resource.metadata, name } })
    await send(insecure, { ...REF, name })
  }
  t.same(
    world.logged.map(({ insecure, msg }) => [insecure, msg]),
    [true, true, undefined].map((flag) => [flag, 'attempt succeeded']),
  )
})

t.test('whatever arrives, a settled, claimed or missing resource is left alone', async (t) => {
  const world = memoryWorld()
  await send(world)
  world.cluster.apply(gitCommit())
  await send(world)
  const settled = statusOf(world)
  await send(world)
  t.same(statusOf(world), settled)
  t.equal(world.pushed.length, 1)
})

t.test('ten events for one resource make one attempt', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit())
  await Promise.all(Array.from({ length: 10 }, () => send(world)))
  t.equal(world.pushed.length, 1)
})

t.test('a failure is in the status, with the time of the next attempt, and in an Event', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit())
  world.land = () => Promise.reject(new Failure('ProviderUnavailable', 'git.example.com answered 503.'))
  await send(world)
  t.match(statusOf(world), {
    phase: 'Retrying',
    nextAttemptTime: '2026-03-01T10:00:03Z',
    conditions: [
      { status: 'False', reason: 'ProviderUnavailable', message: 'git.example.com answered 503.' },
    ],
  })
  t.match(world.cluster.notices, [{ type: 'Warning', reason: 'ProviderUnavailable' }])
})

t.test('a bug is Internal, and its text is in no status and no log', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit())
  world.land = () => Promise.reject(new TypeError('cannot read s3cr3t-token of undefined'))
  await send(world)
  t.match(statusOf(world), { phase: 'Retrying', conditions: [{ reason: 'Internal' }] })
  t.notMatch(JSON.stringify([statusOf(world), world.logged]), 's3cr3t')
  const [logged] = world.logged.filter((line) => line.msg === 'internal error')
  t.match(logged, { origin: { error: 'Internal', frames: [/attempt\.test\.ts/] } })
})

t.test(
  'what fails counts in the pace: a first attempt and one after a change of what was waited for, a retry not',
  async (t) => {
    const world = memoryWorld()
    const noRoute: Partial<MemoryWorld> = {
      push: () => Promise.reject(new Failure('NetworkError', 'No route.')),
    }
    let remote = noRoute
    const counts: number[] = []
    const later = (minutes: number): MemoryWorld => ({
      ...world,
      ...remote,
      now: () => new Date(Date.parse('2026-03-01T10:00:00Z') + minutes * 60_000),
      async inPace(namespace, work) {
        t.equal(namespace, 'team')
        let failures = 0
        const result = await work(() => void (failures += 1))
        counts.push(failures)
        return result
      },
    })
    world.cluster.apply(gitCommit())
    await send(later(0))
    await send(later(5))
    world.cluster.apply(gitCommit({}, { 'commitlet.dev/requested-at': 'again' }))
    await send(later(10))
    const awaited = statusOf(world)?.lastAttemptTime
    await handle(REF, finder(world.cluster, { reads: 8, waits: 8 }), later(10), awaited)
    remote = {}
    await send(later(20))
    t.same(counts, [1, 0, 1, 1, 0])
  },
)

t.test('a retry tells the writer since when its commit may be there; a first attempt does not', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit())
  world.land = () => Promise.reject(new Failure('NetworkError', 'No route.'))
  await send(world)
  const later = { ...world, now: () => new Date('2026-03-01T10:05:00Z') }
  await send(later)
  t.same(
    world.pushed.map(({ change }) => change.since?.toISOString()),
    [undefined, '2026-03-01T09:00:00.000Z'],
  )
})

t.test(
  'a generation that arrives in mid-attempt is attempted at once; the old result is never written',
  async (t) => {
    const world = memoryWorld()
    world.cluster.apply(gitCommit())
    const written: unknown[] = []
    world.land = async ({ change }) => {
      written.push(change.message.split('\n')[0])
      if (written.length === 1) world.cluster.apply(gitCommit({ message: 'Second' }))
      if (written.length === 2)
        t.match(statusOf(world), { phase: 'Progressing', observedGeneration: 2, attempts: 1 })
      return { outcome: 'pushed', sha: String(written.length).repeat(40), branch: 'main' }
    }
    await send(world)
    t.same(written, ['Record the shop settings', 'Second'])
    t.match(statusOf(world), { phase: 'Succeeded', observedGeneration: 2, commit: { sha: '2'.repeat(40) } })
    t.match(
      world.logged.map((line) => line.phase),
      ['overtaken', 'Succeeded'],
    )
  },
)

t.test('a resource that is requested again in mid-attempt is attempted at once', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit())
  world.land = async () => {
    if (world.pushed.length === 1)
      world.cluster.apply(gitCommit({}, { 'commitlet.dev/requested-at': 'again' }))
    return { outcome: 'unchanged', sha: 'b'.repeat(40), branch: 'main' }
  }
  await send(world)
  t.equal(world.pushed.length, 2)
  t.match(statusOf(world), {
    phase: 'Succeeded',
    lastHandledRequestedAt: 'again',
    conditions: [{ status: 'True', reason: 'UpToDate' }],
  })
})

t.test('a label that changes in mid-attempt does not lose the result', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit())
  world.land = async () => {
    world.cluster.apply(gitCommit({}, { 'example.com/colour': 'blue' }))
    return { outcome: 'pushed', sha: 'c'.repeat(40), branch: 'main' }
  }
  await send(world)
  t.equal(world.pushed.length, 1)
  t.match(statusOf(world), { phase: 'Succeeded' })
})

t.test(
  'a resource deleted, or replaced by one of the same name, in mid-attempt: the new status is untouched',
  async (t) => {
    for (const replaced of [false, true]) {
      const world = memoryWorld()
      world.cluster.apply(gitCommit())
      world.land = async () => {
        world.cluster.remove('GitCommit', 'team', 'shop')
        if (replaced) world.cluster.apply(gitCommit())
        return { outcome: 'pushed', sha: 'd'.repeat(40), branch: 'main' }
      }
      await send(world)
      t.equal(world.pushed.length, 1)
      t.same(statusOf(world), replaced ? { observedGeneration: -1, phase: 'Pending' } : undefined)
    }
  },
)

for (const [title, change, message] of [
  ['a spec that changes', gitCommit({ message: 'The new message' }), /^The new message\n/],
  [
    'a label that changes',
    { ...gitCommit(), metadata: { ...gitCommit().metadata, labels: { a: 'b' } } },
    /^Record the shop/,
  ],
] as const) {
  t.test(`${title} between reading and claiming: what is stored then is attempted`, async (t) => {
    const world = memoryWorld()
    world.cluster.apply(gitCommit())
    const takeTurn: MemoryWorld['takeTurn'] = (...of) => {
      world.cluster.apply(change)
      return world.takeTurn(...of)
    }
    await send({ ...world, takeTurn })
    t.equal(world.pushed.length, 1)
    t.match(world.pushed[0]?.change.message, message)
    t.match(statusOf(world), { phase: 'Succeeded' })
  })
}

t.test('an attempt that has to give way to others ends at once, and is retried', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit())
  const asked = Promise.withResolvers<(because: Failure) => void>()
  const takeTurn: MemoryWorld['takeTurn'] = (kind, holder) => {
    if (holder.giveWay !== undefined) asked.resolve(holder.giveWay)
    return world.takeTurn(kind, holder)
  }
  world.land = async () => {
    const giveWay = await asked.promise
    giveWay(new Failure('Timeout', 'Others wait.'))
    return new Promise<never>(() => undefined)
  }
  await send({ ...world, takeTurn })
  const conditions = [{ reason: 'Timeout', message: 'Others wait.' }]
  t.match(statusOf(world), { phase: 'Retrying', conditions })
})

t.test('an attempt whose claim was taken over does not write over the other', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit())
  world.land = async () => {
    if (world.pushed.length > 1) return { outcome: 'found', sha: 'e'.repeat(40), branch: 'main' }
    await send({ ...world, now: () => new Date('2026-03-01T10:03:00Z') })
    return { outcome: 'pushed', sha: 'f'.repeat(40), branch: 'main' }
  }
  await send(world)
  t.match(statusOf(world), { phase: 'Succeeded', attempts: 2, commit: { sha: 'e'.repeat(40) } })
})

t.test(
  'a status that cannot be written at first is written later; one that never can is thrown',
  async (t) => {
    const world = memoryWorld()
    world.cluster.apply(gitCommit())
    let refusals = 2
    const flaky = (down: boolean): MemoryWorld => ({
      ...world,
      cluster: {
        ...world.cluster,
        async patchStatus(resource, status) {
          if (world.pushed.length > 0 && (down || refusals-- > 0))
            throw new Failure('NetworkError', 'No API server.')
          return world.cluster.patchStatus(resource, status)
        },
      },
    })
    await send(flaky(false))
    t.match(statusOf(world), { phase: 'Succeeded' })
    world.cluster.apply(gitCommit({ message: 'Second' }))
    await t.rejects(send(flaky(true)), new Failure('NetworkError', 'No API server.'))
  },
)

t.test('a resource without a stamp ends Failed, and nothing is reviewed, read or pushed', async (t) => {
  const world = memoryWorld()
  const { metadata, ...rest } = gitCommit()
  const untouched = () => Promise.reject(new Error('nothing is to be read'))
  const cluster = { ...world.cluster, readSecret: untouched, readObject: untouched }
  world.cluster.apply({ ...rest, metadata: { ...metadata, annotations: {} } })
  await send({ ...world, cluster })
  t.match(statusOf(world), {
    phase: 'Failed',
    conditions: [{ reason: 'ReferenceForbidden', message: /kubectl annotate .*requested-at=/ }],
  })
  t.strictSame([world.cluster.reviews, world.pushed], [[], []])
})

t.test(
  'a resource made again while the push for the deleted one is under way moves the branch, so that this one fails',
  async (t) => {
    const world = memoryWorld()
    world.cluster.apply(gitCommit())
    const sent = Promise.withResolvers<undefined>()
    const answered = Promise.withResolvers<undefined>()
    world.land = async () => {
      if (world.pushed.length > 1) return { outcome: 'pushed', sha: 'e'.repeat(40), branch: 'main' }
      sent.resolve(undefined)
      await answered.promise
      throw new Failure('Conflict', 'The branch has moved.')
    }
    const first = send(world)
    await sent.promise
    world.cluster.remove('GitCommit', 'team', 'shop')
    world.cluster.apply(gitCommit())
    await send(world)
    t.same(
      world.pushed.map(({ change }) => change.latePush),
      [false, true],
    )
    answered.resolve(undefined)
    await first
    t.match(statusOf(world), { phase: 'Succeeded', commit: { sha: 'e'.repeat(40) } })
  },
)

t.test(
  'rights that were taken away since it was applied end it Failed; given again, it is asked for',
  async (t) => {
    const world = memoryWorld()
    world.cluster.apply(gitCommit())
    world.cluster.mayAccess = (_user, { resource }) => resource !== 'configmaps'
    await send(world)
    t.match(statusOf(world), {
      phase: 'Failed',
      conditions: [{ reason: 'ReferenceForbidden', message: /developer may not `get`/ }],
    })
    t.strictSame(world.pushed, [])
    world.cluster.mayAccess = () => true
    await send(world)
    t.strictSame(world.pushed, [], 'nobody has asked again')
    world.cluster.apply(gitCommit({}, { 'commitlet.dev/requested-at': 'again' }))
    await send(world)
    t.match(statusOf(world), { phase: 'Succeeded' })
  },
)

t.test('where the function itself lacks the right to ask, the attempt is retried', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit())
  const refused = new Failure('ReferenceForbidden', 'The function may not ask.', { retry: 'slow' })
  await send({ ...world, cluster: { ...world.cluster, reviewAccess: () => Promise.reject(refused) } })
  t.match(statusOf(world), { phase: 'Retrying', conditions: [{ reason: 'ReferenceForbidden' }] })
  t.strictSame(world.pushed, [])
})

t.test('a pull request is opened, once, and its number stands in the status and in the log', async (t) => {
  const world = memoryWorld()
  const ref = { ...REF, kind: 'PullRequest' } as const
  world.cluster.apply(pullRequest())
  await send(world, ref)
  await send(world, ref)
  t.equal(world.pullRequests.held.length, 1)
  t.match(statusOf(world, 'PullRequest'), {
    phase: 'Succeeded',
    observedGeneration: 1,
    credentialsUsed: 'Primary',
    pullRequest: { number: 1, state: 'open' },
    conditions: [{ type: 'Ready', status: 'True', reason: 'Succeeded', message: /^Opened #1: https:/ }],
  })
  t.match(world.logged, [{ msg: 'attempt succeeded', kind: 'PullRequest', number: 1, state: 'open' }])
  t.match(world.cluster.notices, [{ type: 'Normal', reason: 'Succeeded' }])
})

t.test('a pull request whose head is not there yet is opened as soon as it is', async (t) => {
  const world = memoryWorld()
  const ref = { ...REF, kind: 'PullRequest' } as const
  world.cluster.apply(pullRequest())
  world.pullRequests.before = (verb) => {
    if (verb === 'create') throw new Failure('HeadNotFound', 'There is no branch feature (yet).')
  }
  await send(world, ref)
  t.match(statusOf(world, 'PullRequest'), {
    phase: 'Retrying',
    pullRequest: undefined,
    conditions: [{ reason: 'HeadNotFound' }, { type: 'Reconciling' }],
  })
  world.pullRequests.before = () => undefined
  await send({ ...world, now: () => new Date('2026-03-01T10:01:00Z') }, ref)
  t.match(statusOf(world, 'PullRequest'), { phase: 'Succeeded', attempts: 2, pullRequest: { number: 1 } })
})

t.test('an event that is ahead of storage waits for the object, up to a second', async (t) => {
  const world = memoryWorld()
  const waiting = send(world, { ...REF, uid: 'other', generation: 1 })
  setTimeout(() => world.cluster.apply(gitCommit()), 50)
  await waiting
  t.equal(world.pushed.length, 1, 'though another uid was announced: an event is a hint')
})

t.test('an event of a request that is ahead of storage waits for the annotation', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit())
  await send(world)
  const requested = gitCommit({}, { 'commitlet.dev/requested-at': 'again' })
  const stored = world.cluster.get('GitCommit', 'team', 'shop')?.metadata
  const { data } = appliedEvent({ ...requested, metadata: { ...stored, ...requested.metadata } }, 'id')
  const [hint] = readEvent(EVENT_HEADERS, JSON.stringify(data))
  const waiting = send(world, hint?.about === 'resource' ? hint.ref : REF)
  setTimeout(() => world.cluster.apply(requested), 50)
  await waiting
  t.match(statusOf(world), { lastHandledRequestedAt: 'again' })
})

t.test('the 65th concurrent wait takes what is stored', async (t) => {
  const world = memoryWorld()
  const find = finder(world.cluster, { reads: 8, waits: 1 })
  const first = find(REF)
  t.equal(await find(REF), undefined)
  world.cluster.apply(gitCommit())
  t.ok(await first)
})

t.test('a claim whose answer was lost is recognised as our own', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit())
  let lost = 1
  const forgetful: MemoryWorld = {
    ...world,
    cluster: {
      ...world.cluster,
      async patchStatus(resource, status) {
        const stored = await world.cluster.patchStatus(resource, status)
        return lost-- > 0 ? CONFLICT : stored
      },
    },
  }
  await send(forgetful)
  t.equal(world.pushed.length, 1)
  t.match(statusOf(world), { phase: 'Succeeded', attempts: 1 })
})

t.test('a spec that changes while the answer to a claim is lost is claimed itself', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit())
  let lost = 1
  const cluster: MemoryWorld['cluster'] = {
    ...world.cluster,
    async patchStatus(resource, status) {
      const stored = await world.cluster.patchStatus(resource, status)
      if (lost-- <= 0) return stored
      world.cluster.apply(gitCommit({ message: 'Second' }))
      return CONFLICT
    },
  }
  world.land = async () => {
    t.match(statusOf(world), { phase: 'Progressing', observedGeneration: 2, attempts: 1 })
    return { outcome: 'pushed', sha: '2'.repeat(40), branch: 'main' }
  }
  await send({ ...world, cluster })
  t.match(
    world.pushed.map(({ change }) => [change.message, change.since]),
    [[/^Second/, undefined]],
  )
  t.match(statusOf(world), { phase: 'Succeeded', observedGeneration: 2 })
})

/** The hosts for which a turn was taken, and those whose turn is held, with the bytes of those that wait. */
function withTurns(world: MemoryWorld, onTake = (): void => undefined) {
  const taken: string[] = []
  const held = new Map<object, string>()
  const takeTurn: MemoryWorld['takeTurn'] = async (_kind, { host }) => {
    taken.push(host)
    onTake()
    const turn = {
      made: () => undefined,
      park: (bytes: number) => void held.set(turn, `${host} waits with ${bytes > 0 ? 'some' : 'no'} bytes`),
      resume: async () => void held.set(turn, host),
      release: () => void held.delete(turn),
    }
    held.set(turn, host)
    return turn
  }
  return { taken, held: () => [...held.values()], world: { ...world, takeTurn } }
}

const ELSEWHERE = gitCommit({ repository: 'https://other.example.com/acme/config.git' })

t.test('a newer generation takes a turn of its own, at the host that it names', async (t) => {
  const world = memoryWorld()
  const turns = withTurns(world)
  world.cluster.apply(gitCommit())
  world.land = async () => {
    const host = world.pushed.length === 1 ? 'git.example.com' : 'other.example.com'
    t.same(turns.held(), [`${host} waits with some bytes`])
    if (world.pushed.length === 1) world.cluster.apply(ELSEWHERE)
    return { outcome: 'pushed', sha: 'a'.repeat(40), branch: 'main' }
  }
  await send(turns.world)
  t.same(turns.taken, ['git.example.com', 'other.example.com'])
  t.same(turns.held(), [])
  t.match(statusOf(world), { phase: 'Succeeded', observedGeneration: 2 })
})

t.test('reading the fallback Secret takes a turn again, and the result is written without one', async (t) => {
  const world = memoryWorld()
  const turns = withTurns(world)
  world.cluster.apply(gitCommit({ fallbackCredentials: { secretName: 'other', tokenKey: 'token' } }))
  const seen: string[] = []
  const look = (what: string): unknown => seen.push(`${what}: ${turns.held().join() || 'nothing'}`)
  const cluster: MemoryWorld['cluster'] = {
    ...world.cluster,
    readSecret(namespace, name) {
      look(`Secret ${name}`)
      return world.cluster.readSecret(namespace, 'git')
    },
    patchStatus(resource, status) {
      look(status.phase)
      return world.cluster.patchStatus(resource, status)
    },
  }
  world.land = async () => {
    look('push')
    if (world.pushed.length === 1) throw new Failure('AuthenticationFailed', 'No.')
    return { outcome: 'pushed', sha: 'a'.repeat(40), branch: 'main' }
  }
  await send({ ...turns.world, cluster })
  t.strictSame(seen, [
    'Progressing: git.example.com',
    'Secret git: git.example.com',
    'push: git.example.com waits with some bytes',
    'Secret other: git.example.com',
    'push: git.example.com waits with some bytes',
    'Succeeded: nothing',
  ])
})

t.test('a change is expected until it is handed to the push, or never comes', async (t) => {
  const world = memoryWorld()
  let expected = 0
  const expect: MemoryWorld['expect'] = ({ repository, branch, namespace }) => {
    t.same([repository.text, branch, namespace], ['https://git.example.com/acme/config.git', 'main', 'team'])
    expected += 1
    let isOver = false
    return () => {
      if (!isOver) expected -= 1
      isOver = true
    }
  }
  world.land = async () => {
    t.equal(expected, 0)
    return { outcome: 'pushed', sha: 'a'.repeat(40), branch: 'main' }
  }
  const readSecret: MemoryWorld['cluster']['readSecret'] = (...of) => {
    t.equal(expected, 1)
    return world.cluster.readSecret(...of)
  }
  const observed = { ...world, expect, cluster: { ...world.cluster, readSecret } }
  world.cluster.apply(gitCommit())
  await send(observed)
  world.cluster.apply(gitCommit({ credentials: { secretName: 'missing', tokenKey: 'token' } }))
  await send(observed)
  t.equal(world.pushed.length, 1)
  t.equal(expected, 0)
})

t.test(
  'a spec that names another host while it waits is not claimed with the share of the first',
  async (t) => {
    const world = memoryWorld()
    const turns = withTurns(world, () => void world.cluster.apply(ELSEWHERE))
    world.cluster.apply(gitCommit())
    world.land = async () => {
      t.same(turns.held(), ['other.example.com waits with some bytes'])
      return { outcome: 'pushed', sha: 'a'.repeat(40), branch: 'main' }
    }
    await send(turns.world)
    t.equal(world.pushed.length, 1)
  },
)

t.test(
  'an attempt that took its process down twelve times is given up, and reported as any other',
  async (t) => {
    const world = memoryWorld()
    const { metadata } = world.cluster.apply(gitCommit())
    await world.cluster.patchStatus(envelopeOf(world.cluster.get('GitCommit', 'team', 'shop')), {
      observedGeneration: Number(metadata.generation),
      phase: 'Progressing',
      attempts: 12,
      lapses: 11,
      nextAttemptTime: '2026-03-01T09:59:00Z',
    })
    await send(world)
    t.equal(world.pushed.length, 0)
    const message = /^Gave up after 12 attempts; .*The last 12 attempts did not finish/
    t.match(statusOf(world), { phase: 'Failed', conditions: [{ reason: 'RetryBudgetExhausted', message }] })
    t.match(world.logged, [
      { level: 30, msg: 'attempt failed', reason: 'Internal', phase: 'Failed', attempt: 12 },
      { level: 50, msg: 'internal error' },
    ])
    t.equal(world.logged.length, 2)
    t.match(world.cluster.notices, [{ type: 'Warning', reason: 'Internal' }])
    t.equal(world.cluster.notices.length, 1)
  },
)

t.test('a resource that another writer gives up first is reported by that writer alone', async (t) => {
  const world = memoryWorld()
  const { metadata } = world.cluster.apply(gitCommit())
  await world.cluster.patchStatus(envelopeOf(world.cluster.get('GitCommit', 'team', 'shop')), {
    observedGeneration: Number(metadata.generation),
    phase: 'Progressing',
    attempts: 12,
    lapses: 11,
    nextAttemptTime: '2026-03-01T09:59:00Z',
  })
  await Promise.all([send(world), send(world)])
  t.equal(world.logged.length, 2)
  t.equal(world.cluster.notices.length, 1)
})

t.test('an attempt ends at its deadline, whatever it waits for', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit())
  const secret = await world.cluster.readSecret('team', 'git')
  const hanging = { ...world.cluster, readSecret: () => pause(990, secret) }
  await send({ ...world, cluster: hanging, settings: { ...world.settings, attemptDeadline: 0.05 } })
  t.match(statusOf(world), { phase: 'Retrying', conditions: [{ reason: 'Timeout' }] })
})

t.test(
  'an attempt that lost its claim ends at once, pushes nothing and leaves the other its status',
  async (t) => {
    const world = memoryWorld()
    world.cluster.apply(gitCommit())
    const ends: unknown[] = []
    const push: MemoryWorld['push'] = async (_change, _login, { signal, claim }) => {
      // Held up for longer than its claim: another attempt takes over, and lands.
      await send({ ...world, now: () => new Date('2026-03-01T10:00:31Z') })
      await claim.confirm(true).catch((error: unknown) => ends.push(error))
      ends.push(signal.reason)
      throw new Error('it ends by its signal')
    }
    await send({ ...world, push })
    t.match(ends, [{ reason: 'Conflict' }, { reason: 'Conflict' }])
    t.match(statusOf(world), { phase: 'Succeeded', attempts: 2 })
    t.match(
      world.logged.map(({ phase }) => phase),
      ['Succeeded', 'overtaken'],
    )
  },
)

t.test(
  'a claim that lives holds off a newer generation, and the attempt that holds it takes that up',
  async (t) => {
    const world = memoryWorld()
    world.cluster.apply(gitCommit())
    world.land = async () => {
      if (world.pushed.length === 1) {
        world.cluster.apply(gitCommit({ message: 'Second' }))
        await send(world)
        t.equal(world.pushed.length, 1, 'nobody else starts')
      }
      return { outcome: 'pushed', sha: 'a'.repeat(40), branch: 'main' }
    }
    await send(world)
    t.match(
      world.pushed.map(({ change }) => change.message),
      [/^Record/, /^Second/],
    )
    t.match(statusOf(world), { phase: 'Succeeded', observedGeneration: 2 })
  },
)

t.test('a result is written over a renewed claim in one call', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit())
  const writes: string[] = []
  const cluster: MemoryWorld['cluster'] = {
    ...world.cluster,
    patchStatus(resource, status) {
      writes.push(status.phase)
      return world.cluster.patchStatus(resource, status)
    },
  }
  const keepClaim = openClaimKeeper({ ...world, cluster })
  const push: MemoryWorld['push'] = async (change, login, attempt) => {
    await attempt.claim.confirm(true)
    return world.push(change, login, attempt)
  }
  await send({ ...world, cluster, keepClaim, push })
  t.same(writes, ['Progressing', 'Progressing', 'Succeeded'])
})

/** The annotation with which the webhook notes that only `suspend` has changed since generation 1. */
const SINCE_FIRST = { 'commitlet.dev/request-generation': '1' }

t.test('suspended and resumed, a settled resource has its one commit, and tells what it is', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit())
  await send(world)
  world.cluster.apply(gitCommit({ suspend: true }, SINCE_FIRST))
  await send(world)
  t.match(statusOf(world), { phase: 'Suspended', observedGeneration: 2, conditions: [{ status: 'True' }] })
  world.cluster.apply(gitCommit({}, SINCE_FIRST))
  await send(world)
  t.match(statusOf(world), { phase: 'Succeeded', observedGeneration: 3 })
  t.equal(world.pushed.length, 1)
  t.same(
    world.cluster.notices.map(({ reason }) => reason),
    ['Succeeded', 'Suspended', 'Resumed'],
  )
})

t.test('a retry after a suspension belongs to the same request', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit())
  world.land = () => Promise.reject(new Failure('NetworkError', 'Down.'))
  await send(world)
  world.cluster.apply(gitCommit({ suspend: true }, SINCE_FIRST))
  const later = { ...world, now: () => new Date('2026-03-01T11:00:00Z') }
  await send(later)
  t.match(statusOf(world), { phase: 'Suspended', observedGeneration: 2 })
  t.equal(world.pushed.length, 1)
  world.cluster.apply(gitCommit({}, SINCE_FIRST))
  await send(later)
  const [first, second] = world.pushed.map(({ change }) => change)
  t.equal(world.pushed.length, 2)
  t.equal(second?.id, first?.id)
  t.ok(second?.since, 'the history is searched')
})

t.test('suspended during an attempt, its result counts, and a newer spec waits', async (t) => {
  const world = memoryWorld()
  world.cluster.apply(gitCommit())
  const { land } = world
  world.land = (pushed) => {
    world.cluster.apply(gitCommit({ suspend: true }, SINCE_FIRST))
    return land(pushed)
  }
  await send(world)
  t.match(statusOf(world), { phase: 'Suspended', observedGeneration: 2, conditions: [{ status: 'True' }] })
  world.cluster.apply(gitCommit({ message: 'Two' }))
  world.land = (pushed) => {
    world.cluster.apply(gitCommit({ message: 'Three', suspend: true }))
    return land(pushed)
  }
  await send(world)
  t.match(statusOf(world), { phase: 'Suspended', observedGeneration: 4, lastHandledGeneration: 3 })
  t.equal(world.pushed.length, 2)
  world.land = land
  world.cluster.apply(gitCommit({ message: 'Three' }, { 'commitlet.dev/request-generation': '4' }))
  await send(world)
  t.match(statusOf(world), { phase: 'Succeeded', observedGeneration: 5 })
  t.match(world.pushed.at(-1)?.change.id, /\.4$/)
})

t.test('of an attempt that ends before its rights are reviewed, no more reviews are asked for', async (t) => {
  const world = memoryWorld()
  const files = Array.from({ length: 100 }, (_, i) => ({
    path: `${i}.yaml`,
    resourceRef: { apiVersion: 'v1', kind: 'ConfigMap', name: `c${i}` },
  }))
  world.cluster.apply(gitCommit({ files, resourceRef: undefined }))
  const open: (() => void)[] = []
  const cluster: MemoryWorld['cluster'] = {
    ...world.cluster,
    async reviewAccess(...of) {
      await new Promise<void>((resolve) => open.push(resolve))
      return world.cluster.reviewAccess(...of)
    },
    async patchStatus() {
      world.cluster.remove('GitCommit', 'team', 'shop')
      return CONFLICT
    },
  }
  await send({ ...world, cluster })
  for (let times = 0; times < 50; times += 1) {
    for (const answer of open.splice(0)) answer()
    await pause(0)
  }
  t.ok(world.cluster.reviews.length < 20, `${world.cluster.reviews.length} reviews`)
})
