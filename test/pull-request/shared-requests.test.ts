import t from 'tap'
import { BITBUCKET } from '../harness/hosts/bitbucket.ts'
import { memoryModel } from '../harness/hosts/model.ts'
import { BRANCHES, callHost } from './called-host.ts'

t.test(
  'a namespace that has had its share of the requests of Bitbucket waits, and another one does not',
  async (t) => {
    const model = memoryModel({ repository: ['acme', 'shop'] })
    model.branches.set('x', 3)
    const served = { dialect: BITBUCKET, name: 'bitbucket', shown: 'https://bitbucket.org/acme/shop' }
    const { host, use, target, login } = await callHost(t, model, served)
    const { signal } = new AbortController()
    /** Searches until that is refused, so many times at most. */
    async function search(namespace: string, times: number, by: object = { ofOperator: true }) {
      const before = host.seen.length
      const refusal: unknown = await use(
        target,
        { login: { ...login, ...by }, signal, namespace },
        async (pulls) => {
          for (let call = 0; call < times; call += 1) await pulls.find(BRANCHES, 'open')
        },
      ).catch((error: unknown) => error)
      return { made: host.seen.length - before, refusal }
    }
    const hog = await search('hog', 300)
    t.equal(hog.made, 251)
    t.match(hog.refusal, { reason: 'RateLimited', message: /^This namespace has had its share/ })
    t.match(await search('hog', 1), { made: 0, refusal: { reason: 'RateLimited' } })
    t.strictSame(await search('team', 10), { made: 10, refusal: undefined })
    t.strictSame(await search('hog', 10, {}), { made: 10, refusal: undefined }, 'credentials of its own')
  },
)
