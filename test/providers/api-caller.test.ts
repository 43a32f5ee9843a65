import t from 'tap'
import { apiCaller } from '../../functions/providers/api-caller.ts'
import type { FetchInit } from '../../functions/domain/pull-request/pull-requests.ts'
import { atOnce } from '../../functions/http/share.ts'

const LOGIN = { secret: 's3cr3t', username: undefined, identity: 'x', secrets: ['other'] }

function stage(username: string | undefined) {
  const sent: (FetchInit & { readonly url: string })[] = []
  const endpoint = {
    baseURL: 'https://git.example.com/api/v1',
    repository: ['acme', 'shop'],
    shown: 'https://git.example.com/acme/shop',
    permit: () => undefined,
    share: atOnce,
    fetch(url: string, init: FetchInit) {
      sent.push({ url, ...init })
      return Promise.resolve(Response.json({ number: 1 }, { status: 201 }))
    },
  }
  return { sent, ...apiCaller(endpoint, { ...LOGIN, username }) }
}

t.test('a token is sent alone, and a request without content has no body', async (t) => {
  const { sent, ask, context: context } = stage(undefined)
  t.match(await ask('GET', 'https://git.example.com/x'), { status: 201, data: { number: 1 } })
  t.strictSame(sent, [
    {
      url: 'https://git.example.com/x',
      method: 'GET',
      headers: { accept: 'application/json', authorization: 'Bearer s3cr3t' },
    },
  ])
  t.same(context.secrets, ['other', 's3cr3t', ':s3cr3t'])
})

t.test('a user name is sent with the secret, and content as JSON', async (t) => {
  const { sent, ask, context: context } = stage('dev@example.com')
  await ask('POST', 'https://git.example.com/x', { title: 'Next' })
  const authorization = `Basic ${Buffer.from('dev@example.com:s3cr3t').toString('base64')}`
  t.match(sent, [{ method: 'POST', headers: { authorization, 'content-type': 'application/json' } }])
  t.equal(sent[0]?.body, '{"title":"Next"}')
  t.ok(context.secrets.includes('dev@example.com:s3cr3t'))
})
