import t, { type Test } from 'tap'
import type { ReserveFor } from '../../functions/domain/network/share.ts'
import type {
  ApiCaller,
  Branches,
  WithPullRequests,
} from '../../functions/domain/pull-request/pull-requests.ts'
import { hostNamed } from '../../functions/domain/repository/hosts.ts'
import { makeApiLimits } from '../../functions/login/limits/api-limits.ts'
import { openProviders } from '../../functions/pull-request/provider-apis.ts'
import { reconcilePullRequest } from '../../functions/pull-request/reconcile.ts'
import { pullRequest } from '../domain/fixtures/pullrequest.ts'
import { BITBUCKET } from '../harness/hosts/bitbucket.ts'
import { startHost } from '../harness/hosts/host-server.ts'
import { memoryModel } from '../harness/hosts/model.ts'
import { settingsWith } from '../providers/port-stage.ts'

const NAMES = ['acme', 'shop']
const UUIDS = ['{0a0a0a0a-1111-2222-3333-444444444444}', '{0b0b0b0b-1111-2222-3333-444444444444}']
const SPELLINGS: readonly (readonly [string, readonly string[]])[] = [
  ['its name', NAMES],
  ['UUIDs', UUIDS],
  ['a name in a workspace by its UUID', [UUIDS[0]!, 'shop']],
  ['a UUID in a workspace by its name', ['acme', UUIDS[1]!.toUpperCase()]],
]

interface Terms extends Pick<ApiCaller, 'claim'> {
  readonly head?: string
  readonly by?: WithPullRequests
}

/** A Bitbucket; `reserve`: what the namespaces wait for before a creation. */
async function stage(t: Test, reserve?: ReserveFor) {
  const model = memoryModel({ uuids: UUIDS })
  for (const head of ['x', 'y']) model.branches.set(head, 3)
  for (const token of ['victim', 'evil']) model.tokens.set(token, 'write')
  const host = await startHost(t, BITBUCKET, model)
  const settings = { ...settingsWith(host.caFile), reserve }
  const here = openProviders(
    settings,
    makeApiLimits(() => performance.now()),
  )
  const elsewhere = openProviders(
    settingsWith(host.caFile),
    makeApiLimits(() => performance.now()),
  )
  return {
    model,
    host,
    creations: () => host.seen.filter(({ method }) => method === 'POST').length,
    elsewhere,
    /** An attempt of a namespace with a token of its own. `by`: `elsewhere` is another replica of the function. */
    open: (
      namespace: string,
      repository: readonly string[],
      { head = 'x', by = here, claim }: Terms = {},
    ) => {
      const branches: Branches = { base: 'main', head, headOwner: undefined }
      const row = hostNamed('bitbucket')
      if (row === undefined) throw new Error('There is no such host.')
      const at = { host: row, baseURL: host.baseURL, repository, shown: 'the repository' }
      const login = { username: undefined, secret: namespace, identity: namespace, secrets: [namespace] }
      const made = pullRequest({ title: `That of ${namespace}` })
      const resource = { ...made, metadata: { ...made.metadata, uid: `uid-of-${namespace}` } }
      return by(
        { ...at, branches, permit: () => undefined },
        { login, signal: new AbortController().signal, namespace, claim },
        (pulls) => reconcilePullRequest({ resource, branches, again: false }, pulls),
      )
    },
  }
}

t.test('a repository of Bitbucket is one place, by whatever name it is called', async (t) => {
  for (const [what, repository] of SPELLINGS) {
    await t.test(what, async (t) => {
      const { model, host, creations, open } = await stage(t)
      const [asked, going] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()]
      const happens = (): Promise<undefined> => {
        asked.resolve(undefined)
        return going.promise
      }
      host.fail({ kind: 'meanwhile', happens }, (method) => method === 'POST')
      const first = open('victim', NAMES)
      await asked.promise
      const second = open('evil', repository)
      // A whole attempt of the same token, so that the second one has come to its creation.
      t.match(await open('evil', repository, { head: 'y' }), {
        reason: 'Succeeded',
        pullRequest: { number: 1 },
      })
      t.equal(creations(), 1, 'that of the other branches')
      going.resolve(undefined)
      t.match(await first, { reason: 'Succeeded', pullRequest: { number: 2 } })
      t.match(await second, { reason: 'UpToDate', message: /#2 was opened by someone else/ })
      t.match(model.pulls, [{ head: 'y' }, { head: 'x', title: 'That of victim' }])
    })
  }
})

t.test('one that is opened while somebody waits to create another is left as it is', async (t) => {
  for (const [what, repository] of SPELLINGS) {
    await t.test(what, async (t) => {
      const [waits, going] = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()]
      const { model, open, elsewhere } = await stage(t, async (namespace) => {
        if (namespace === 'evil') {
          waits.resolve(undefined)
          await going.promise
        }
        return () => undefined
      })
      const evil = open('evil', repository)
      await waits.promise
      const victim = await open('victim', NAMES, { by: elsewhere })
      t.match(victim, { reason: 'Succeeded', pullRequest: { number: 1 } })
      going.resolve(undefined)
      t.match(await evil, { reason: 'UpToDate', message: /#1 was opened by someone else/ })
      t.match(model.pulls, [{ title: 'That of victim' }])
    })
  }
})

t.test('what is opened while a claim is written for a creation is found before it', async (t) => {
  const { model, open, elsewhere } = await stage(t)
  let victim: Promise<unknown> | undefined
  const confirm = async (): Promise<void> => {
    victim ??= open('victim', NAMES, { by: elsewhere })
    await victim
  }
  const evil = await open('evil', NAMES, { claim: { confirm, remaining: () => Infinity } })
  t.match(await victim, { reason: 'Succeeded', pullRequest: { number: 1 } })
  t.match(evil, { reason: 'UpToDate', message: /#1 was opened by someone else/ })
  t.match(model.pulls, [{ title: 'That of victim' }])
})
