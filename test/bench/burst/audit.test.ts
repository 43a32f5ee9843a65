import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openAudit } from '../../../bench/burst/audit.ts'

function line(account: string, verb: string, resource: string, subresource?: string): string {
  const user = { username: `system:serviceaccount:commitlet-system:commitlet-${account}` }
  return `${JSON.stringify({ verb, user, objectRef: { resource, subresource } })}\n`
}

t.test('calls are counted by account, verb and resource, each once', async (t) => {
  const folder = t.testdir({})
  const audit = await openAudit(folder)
  const log = join(folder, 'audit.log')
  t.ok(audit.flags.includes(`--audit-log-path=${log}`))
  t.equal((await audit.take()).function.size, 0)
  appendFileSync(log, line('function', 'get', 'secrets') + line('function', 'patch', 'gitcommits', 'status'))
  appendFileSync(log, line('function', 'get', 'secrets') + line('webhook', 'list', 'gitcommits'))
  const { function: own, webhook } = await audit.take()
  t.strictSame(
    [...own],
    [
      ['get secrets', 2],
      ['patch gitcommits/status', 1],
    ],
  )
  t.strictSame([...webhook], [['list gitcommits', 1]])
  t.equal((await audit.take()).function.size, 0)
})

t.test('a line that is still being written is counted once it is whole', async (t) => {
  const folder = t.testdir({})
  const audit = await openAudit(folder)
  const log = join(folder, 'audit.log')
  const [first, second] = ['secrets', 'configmaps'].map((resource) => line('function', 'get', resource))
  appendFileSync(log, `${first}${second?.slice(0, 60)}`)
  t.strictSame([...(await audit.take()).function.keys()], ['get secrets'])
  t.equal((await audit.take()).function.size, 0)
  appendFileSync(log, second?.slice(60) ?? '')
  t.strictSame([...(await audit.take()).function.keys()], ['get configmaps'])
})
