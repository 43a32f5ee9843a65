import { Failure } from '../../../functions/domain/failure.ts'
import type { SeenRequest } from '../../harness/hosts/host-handler.ts'
import type { Case } from './case.ts'
import { after, loginWith, writes } from './stage.ts'
import type { Stage } from './stage.ts'
import { TRAITS } from './traits.ts'

const NEW_PLACE = ['acme', 'market']

/** What a host refuses until a user fixes it. */
export const REFUSALS: readonly Case[] = [
  {
    title: 'a token that the host does not know is AuthenticationFailed',
    async run(t, stage) {
      const login = loginWith('nobodys-token')
      const failure = await stage.failure(stage.resource(), { login })
      t.match(failure, { reason: 'AuthenticationFailed', retry: 'slow', message: /\(401\)/ })
      t.equal(stage.requests().length, 1, 'it is not tried again')
    },
  },
  {
    title: 'a token that may read only is PermissionDenied, and what it lacks is named',
    async run(t, stage) {
      stage.model.tokens.set('reader-token', 'read')
      const resource = stage.resource()
      const failure = await stage.failure(resource, { login: loginWith('reader-token') })
      t.match(failure, { reason: 'PermissionDenied', retry: 'slow' })
      t.ok(failure.message.includes(stage.dialect.answers.needed), failure.message)
      t.match(await stage.attempt(resource), { reason: 'Succeeded' }, 'another token may')
    },
  },
  {
    title: 'a repository that the token must not see is RepositoryNotFound, which says that it may be either',
    async run(t, stage) {
      stage.model.tokens.set('strangers-token', 'stranger')
      const failure = await stage.failure(stage.resource(), { login: loginWith('strangers-token') })
      t.match(failure, { reason: 'RepositoryNotFound', retry: 'slow', message: /not visible/ })
    },
  },
  {
    title: 'a repository that is no longer visible is RepositoryNotFound, not a reason to open a second one',
    async run(t, stage) {
      const resource = stage.resource()
      const known = after(resource, await stage.attempt(resource))
      stage.requests()
      stage.model.tokens.set('good-token', 'stranger')
      t.match(await stage.failure(known), { reason: 'RepositoryNotFound', message: /not visible/ })
      t.strictSame(writes(stage.requests()), [])
      stage.model.tokens.set('good-token', 'write')
      t.match(await stage.attempt(known), { reason: 'UpToDate', message: /^#1 is open: / })
    },
  },
  {
    title: 'an archived repository is PermissionDenied, and nothing is opened',
    async run(t, stage) {
      stage.model.archived = true
      t.match(await stage.failure(stage.resource()), { reason: 'PermissionDenied', message: /archived/ })
      t.equal(stage.model.pulls.length, 0)
    },
  },
  {
    title: 'a repository that has moved is followed by its id, or said to have moved; no POST becomes a GET',
    async run(t, stage) {
      stage.model.movedTo = NEW_PLACE
      await movedIsHandled(t, stage)
    },
  },
  {
    title: 'a repository that moves between search and creation is handled the same',
    async run(t, stage) {
      const move = (): void => void (stage.model.movedTo = NEW_PLACE)
      stage.server.fail({ kind: 'meanwhile', happens: move }, (method) => method === 'POST')
      await movedIsHandled(t, stage)
    },
  },
  {
    title: 'a repository that has moved where the credentials may not go is ReferenceForbidden',
    spares: ({ name }) => TRAITS[name]?.moved !== 'followed',
    async run(t, stage) {
      const asked: unknown[] = []
      const permit = (present: readonly string[]): never => {
        asked.push(present)
        throw new Failure('ReferenceForbidden', 'It may not.')
      }
      for (const where of ['before the look', 'between the look and the creation']) {
        const move = (): void => void (stage.model.movedTo = NEW_PLACE)
        stage.server.fail(
          { kind: 'meanwhile', happens: move },
          (m) => where.startsWith('before') || m === 'POST',
        )
        const failure = await stage.failure(stage.resource(), { permit })
        t.match(failure, { reason: 'ReferenceForbidden', message: 'It may not.' }, where)
        t.equal(stage.requests().at(-1)?.method, 'GET', 'its name is the last that was asked')
        t.equal(stage.model.pulls.length, 0)
        stage.model.movedTo = undefined
      }
      t.strictSame(asked, [NEW_PLACE, NEW_PLACE])
    },
  },
  ...[301, 302, 303, 307, 308].map((status): Case => ({
    title: `a redirect to another host is not followed (${status})`,
    async run(t, stage) {
      const headers = { location: 'https://evil.example/repositories/1/pulls' }
      stage.server.fail({ kind: 'answer', answer: { status, headers, body: {} } }, (m) => m === 'POST')
      const failure = await stage.failure(stage.resource())
      t.match(failure, { reason: 'RepositoryNotFound', message: /has moved/ })
      t.equal(stage.requests().at(-1)?.method, 'POST', 'nothing is asked after it')
    },
  })),
]

async function movedIsHandled(t: Parameters<Case['run']>[0], stage: Stage): Promise<void> {
  const how = TRAITS[stage.host.name]?.moved
  const resource = stage.resource()
  if (how === 'followed') {
    t.match(await stage.attempt(resource), { reason: 'Succeeded' })
    t.equal(stage.model.pulls.length, 1)
    const requests = stage.requests()
    // Find and create take three at most, and a redirected POST may need one more to find the new address.
    t.ok(requests.length <= 6, requests.map(({ path }) => path).join(', '))
    t.ok(writes(requests).every(({ method }) => method === 'POST'))
    return
  }
  const failure = await stage.failure(resource)
  t.match(failure, { reason: 'RepositoryNotFound', retry: 'slow', message: /has moved/ })
  if (how === 'named') t.match(failure.message, NEW_PLACE.join('/'))
  t.equal(stage.model.pulls.length, 0)
  t.equal(redirected(stage.requests()).length, 1, 'nothing is asked after it')
}

function redirected(requests: readonly SeenRequest[]): readonly SeenRequest[] {
  return requests.filter(({ status }) => status >= 300 && status < 400)
}
