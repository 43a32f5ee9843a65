import t from 'tap'
import type { FetchInit } from '../../../functions/domain/pull-request/pull-requests.ts'
import { answerFrom, connectClient } from '../../../functions/providers/gitlab/client.ts'
import type { Client } from '../../../functions/providers/gitlab/client.ts'
import { LOGIN } from '../port-stage.ts'
import { atOnce } from '../../../functions/http/share.ts'

interface Sent extends FetchInit {
  readonly url: string
}

function recorded(
  answer: () => Response,
  baseURL: string,
): { readonly sent: Sent[]; readonly client: Client } {
  const sent: Sent[] = []
  const fetch = (url: string, init: FetchInit): Promise<Response> => {
    sent.push({ url, ...init })
    return Promise.resolve(answer())
  }
  const endpoint = {
    baseURL,
    repository: ['acme', 'team', 'shop'],
    shown: 'shop',
    permit,
    fetch,
    share: atOnce,
  }
  return { sent, client: connectClient(endpoint, LOGIN) }
}

const permit = (): void => undefined
const GITLAB = 'https://gitlab.example.com/api/v4'
const AT_PATH = 'https://example.com/tools/gitlab/api/v4'

for (const baseURL of [GITLAB, AT_PATH, 'http://[2001:db8::7]:8080/api/v4']) {
  t.test(`requests go below ${baseURL}, with the project encoded as one segment`, async (t) => {
    const { sent, client } = recorded(() => new Response('[]'), baseURL)
    await answerFrom(
      client.mergeRequests.all({ projectId: 'acme/team/shop', sourceBranch: 'a&b/é', page: 1 }),
    )
    await answerFrom(client.branches.show('acme/team/shop', 'a/b'))
    await answerFrom(client.users.all({ username: 'dev' }))
    t.strictSame(
      sent.map(({ url }) => url),
      [
        `${baseURL}/projects/acme%2Fteam%2Fshop/merge_requests?source_branch=a%26b%2F%C3%A9&page=1`,
        `${baseURL}/projects/acme%2Fteam%2Fshop/repository/branches/a%2Fb`,
        `${baseURL}/users?username=dev`,
      ],
    )
  })
}

t.test('a request holds the token, the body and nothing else', async (t) => {
  const { sent, client } = recorded(() => new Response('{}', { status: 201 }), GITLAB)
  await answerFrom(client.mergeRequests.create('acme/shop', 'settings', 'main', 'T', { description: 'D' }))
  t.strictSame(sent, [
    {
      url: `${GITLAB}/projects/acme%2Fshop/merge_requests`,
      method: 'POST',
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        authorization: 'Bearer good-token',
      },
      body: JSON.stringify({
        source_branch: 'settings',
        target_branch: 'main',
        title: 'T',
        description: 'D',
      }),
    },
  ])
})

for (const status of [200, 201, 301, 400, 401, 409, 429, 500, 502, 503]) {
  t.test(`${status} is requested once, and returned with its headers`, async (t) => {
    const headers = { 'retry-after': '9', 'content-type': 'application/json' }
    const { sent, client } = recorded(() => new Response('{"message":"m"}', { status, headers }), GITLAB)
    const answer = await answerFrom(client.mergeRequests.create('acme/shop', 'a', 'b', 'T'))
    t.match(answer, { status, data: { message: 'm' } })
    t.equal(answer.headers.get('retry-after'), '9')
    t.equal(sent.length, 1)
  })
}

for (const [text, data] of [
  ['Retry later\n', 'Retry later\n'],
  ['', ''],
  ['{"cut', '{"cut'],
  ['null', null],
  ['7', 7],
  ['[{"iid":1}]', [{ iid: 1 }]],
] as const) {
  t.test(`the body ${JSON.stringify(text)} is passed on, whatever its content type`, async (t) => {
    for (const type of ['application/json', 'text/html', 'application/octet-stream']) {
      const { client } = recorded(() => new Response(text, { headers: { 'content-type': type } }), GITLAB)
      t.strictSame((await answerFrom(client.mergeRequests.show('acme/shop', 1))).data, data)
    }
  })
}

t.test('an error of the network is passed on as it is', async (t) => {
  const fault = new Error('the fault')
  const endpoint = {
    baseURL: GITLAB,
    repository: ['a', 'b'],
    shown: 'b',
    permit,
    share: atOnce,
    fetch: () => Promise.reject(fault),
  }
  const call = connectClient(endpoint, LOGIN).mergeRequests.show('a/b', 1)
  t.equal(await answerFrom(call).catch((error: unknown) => error), fault)
})

t.test('an error outside of the client is a bug', async (t) => {
  const ended = await answerFrom(Promise.resolve({ iid: 1 })).catch((error: unknown) => error)
  t.match(ended, { reason: 'Internal' })
})
