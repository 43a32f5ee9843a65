import t from 'tap'
import type { Login } from '../../functions/domain/credentials/login.ts'
import { Failure } from '../../functions/domain/failure.ts'
import type { FailureReason } from '../../functions/domain/reasons.ts'
import { parseResource } from '../domain/fixtures/parsed.ts'
import { commitObject } from '../../functions/commit/commit-object.ts'
import type { World } from '../../functions/world.ts'
import { ATTEMPT, gitCommit, memoryWorld } from '../harness/memory-world.ts'

const PRIMARY_TOKEN = 's3cr3t-token'
const LANDED = { outcome: 'pushed', sha: 'a'.repeat(40), branch: 'main' } as const
const BOTH = { fallbackCredentials: { secretName: 'spare' } }

/** A GitCommit in a world with a second Secret, where the remote refuses the first one for this reason. */
function stage(refusal?: FailureReason, spec: Readonly<Record<string, unknown>> = BOTH) {
  const world = memoryWorld()
  const metadata = { name: 'spare', namespace: 'team' }
  world.cluster.apply({ apiVersion: 'v1', kind: 'Secret', metadata, stringData: { token: 'spare-token' } })
  world.land = async ({ login }) => {
    if (refusal !== undefined && passwordOf(login) === PRIMARY_TOKEN) throw new Failure(refusal, 'Refused.')
    return LANDED
  }
  const resource = parseResource(world.cluster.apply(gitCommit(spec)))
  if (resource.kind !== 'GitCommit') throw new Error('not a GitCommit')
  return { world, resource }
}

function passwordOf(login: Login): string | undefined {
  return login.method === 'password' ? login.password : undefined
}

t.test('the fallback is used where the first credentials are refused, and the outcome says so', async (t) => {
  const { world, resource } = stage('AuthenticationFailed')
  t.match(await commitObject(resource, world, ATTEMPT), { reason: 'Succeeded', credentialsUsed: 'Fallback' })
  const logins = world.pushed.map(({ login }) => login)
  t.strictSame(logins.map(passwordOf), [PRIMARY_TOKEN, 'spare-token'])
  for (const sent of [PRIMARY_TOKEN, `x-access-token:${PRIMARY_TOKEN}`])
    t.ok(logins[1]?.secrets.includes(sent), 'the host has seen the first login, too')
  t.notOk(logins[0]?.secrets.includes('spare-token'))
})

t.test('the fallback is not used where the first credentials work, or the network fails', async (t) => {
  const fine = stage()
  t.match(await commitObject(fine.resource, fine.world, ATTEMPT), { credentialsUsed: 'Primary' })
  const cut = stage('NetworkError')
  await t.rejects(commitObject(cut.resource, cut.world, ATTEMPT), { name: 'Failure', reason: 'NetworkError' })
  for (const { pushed } of [fine.world, cut.world])
    t.strictSame(
      pushed.map(({ login }) => passwordOf(login)),
      [PRIMARY_TOKEN],
    )
})

t.test('a missing Secret leads to the fallback, one that the requester may only use does not', async (t) => {
  const { world, resource } = stage()
  world.cluster.remove('Secret', 'team', 'git')
  t.match(await commitObject(resource, world, ATTEMPT), { credentialsUsed: 'Fallback' })
  world.cluster.mayAccess = (_user, { resource: kind, verb }) => kind !== 'secrets' || verb === 'use'
  await t.rejects(commitObject(resource, world, ATTEMPT), {
    name: 'Failure',
    reason: 'ReferenceForbidden',
    retry: 'slow',
  })
})

t.test(
  'rights that are removed while the first log-in is under way keep the fallback from being used',
  async (t) => {
    const { world, resource } = stage()
    world.land = async () => {
      world.cluster.mayAccess = (_user, { resource: kind }) => kind !== 'secrets'
      throw new Failure('AuthenticationFailed', 'Refused.')
    }
    await t.rejects(commitObject(resource, world, ATTEMPT), {
      reason: 'AuthenticationFailed',
      message:
        /The fallback credentials failed, too \(ReferenceForbidden\): The Secret spare .* is not one that/,
    })
    t.strictSame(
      world.pushed.map(({ login }) => passwordOf(login)),
      [PRIMARY_TOKEN],
    )
  },
)

t.test('a fallback that others have made in a namespace of the same name is not used', async (t) => {
  const { world, resource } = stage()
  let isThere = true
  world.land = async () => {
    isThere = false
    throw new Failure('AuthenticationFailed', 'Refused.')
  }
  const stillThere = async (): Promise<void> => {
    if (!isThere) throw new Failure('Conflict', 'It was deleted.')
  }
  await t.rejects(commitObject(resource, world, { ...ATTEMPT, stillThere }), { message: /It was deleted/ })
  t.strictSame(
    world.pushed.map(({ login }) => passwordOf(login)),
    [PRIMARY_TOKEN],
  )
})

t.test('a missing object is not a failure of the credentials', async (t) => {
  const { world, resource } = stage()
  world.cluster.remove('ConfigMap', 'team', 'shop')
  const read: string[] = []
  const cluster = {
    ...world.cluster,
    readSecret: (namespace: string, name: string) => {
      read.push(name)
      return world.cluster.readSecret(namespace, name)
    },
  }
  await t.rejects(commitObject(resource, { ...world, cluster }, ATTEMPT), {
    reason: 'ReferenceNotFound',
    message: /^There is no ConfigMap team\/shop/,
  })
  t.strictSame(read, ['git'])
})

t.test('history is searched by the fallback, too', async (t) => {
  const { world, resource } = stage()
  world.cluster.remove('ConfigMap', 'team', 'shop')
  const find: World['find'] = async (_draft, login) => {
    if (passwordOf(login) === PRIMARY_TOKEN) throw new Failure('RepositoryNotFound', 'Not there.')
    return { ...LANDED, outcome: 'found' }
  }
  const ending = commitObject(resource, { ...world, find }, { ...ATTEMPT, again: true })
  t.match(await ending, { reason: 'Succeeded', credentialsUsed: 'Fallback' })
})

t.test('the fallback searches for what the first login may have pushed without an answer', async (t) => {
  const { world, resource } = stage()
  const sought: boolean[] = []
  const answers = [undefined, false] as const
  for (const landed of answers) {
    const push: World['push'] = async ({ since }, login, { pushWatch }) => {
      sought.push(since !== undefined)
      if (passwordOf(login) !== PRIMARY_TOKEN) return LANDED
      pushWatch?.sent()
      if (landed !== undefined) pushWatch?.answered(landed)
      throw new Failure('AuthenticationFailed', 'Refused.')
    }
    await commitObject(resource, { ...world, push }, ATTEMPT)
  }
  t.strictSame(sought, [false, true, false, false])
})

t.test('both fail: both causes are reported, with the reason of the first', async (t) => {
  const { world, resource } = stage('PermissionDenied')
  world.cluster.remove('Secret', 'team', 'spare')
  await t.rejects(commitObject(resource, world, ATTEMPT), {
    reason: 'PermissionDenied',
    message:
      /^Refused\. The fallback credentials failed, too \(ReferenceNotFound\): There is no Secret team\/spare/,
  })
})

t.test("without credentials the operator's default is used, and the outcome says so", async (t) => {
  const { world, resource } = stage(undefined, { credentials: undefined })
  const source = { token: 'tkn-0f-the-operator' }
  const defaults = { source, username: undefined, repositories: 'git.example.com/acme', paths: undefined }
  const settings = { ...world.settings, defaults }
  t.match(await commitObject(resource, { ...world, settings }, ATTEMPT), { credentialsUsed: 'Default' })
  t.strictSame(
    world.pushed.map(({ login }) => passwordOf(login)),
    [source.token],
  )
})

t.test('a user with an app password for Bitbucket learns that it accepts none any more', async (t) => {
  const repository = 'https://bitbucket.org/acme/config'
  const credentials = { secretName: 'git', usernameKey: 'user', passwordKey: 'token' }
  const { world, resource } = stage('AuthenticationFailed', { repository, credentials })
  const stringData = { user: 'developer', token: PRIMARY_TOKEN }
  const metadata = { name: 'git', namespace: 'team' }
  world.cluster.apply({ apiVersion: 'v1', kind: 'Secret', metadata, stringData })
  await t.rejects(commitObject(resource, world, ATTEMPT), {
    reason: 'AuthenticationFailed',
    message: /no longer accepts app passwords/,
  })
})
