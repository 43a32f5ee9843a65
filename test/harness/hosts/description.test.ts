import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { readDescription } from './description.ts'
import type { HostRequest } from './description.ts'
import { BITBUCKET_CASES } from './cases/bitbucket.ts'
import { GITEA_CASES } from './cases/gitea.ts'
import { GITHUB_CASES } from './cases/github.ts'
import { GITLAB_CASES } from './cases/gitlab.ts'
import type { Case } from './cases/host-cases.ts'

const HOST_CASES = [GITHUB_CASES, GITLAB_CASES, BITBUCKET_CASES, GITEA_CASES]

function requestOf({ line, body, contentType = 'application/json' }: Case): HostRequest {
  const [, method = '', path = '', query = ''] = /^(\S+) ([^?]+)\??(.*)$/.exec(line) ?? []
  return {
    method,
    path,
    query: new URLSearchParams(query),
    contentType: body === undefined ? undefined : contentType,
    body,
  }
}

for (const { name, cases, aliases } of HOST_CASES) {
  t.test(`${name} allows what its description names and nothing else`, async (t) => {
    const description = readDescription(name, aliases)
    for (const one of cases) {
      const complaints = description.complaints(requestOf(one))
      const title = `${one.line} ${JSON.stringify(one.body ?? null)}`
      t.match(complaints, one.says ?? [], title)
      t.equal(complaints.length, one.says?.length ?? 0, `${title}: ${complaints.join(' ')}`)
    }
  })
}

t.test('an answer is held against the schema of its status, where there is one', async (t) => {
  const description = readDescription('github')
  const request = requestOf({ line: 'GET /repos/acme/app/pulls/7/requested_reviewers' })
  t.same(description.answerComplaints(request, 200, { users: [], teams: [] }), [])
  t.match(description.answerComplaints(request, 200, { users: [] }), [/must have required property 'teams'/])
  t.same(description.answerComplaints(request, 418, 'anything'), [])
  t.same(description.answerComplaints(requestOf({ line: 'GET /nowhere' }), 200, {}), [])
})

t.test("Bitbucket's errors have a type and a message", async (t) => {
  const description = readDescription('bitbucket')
  const request = requestOf({ line: 'GET /repositories/acme/app' })
  t.same(description.answerComplaints(request, 404, { type: 'error', error: { message: 'none' } }), [])
  t.match(description.answerComplaints(request, 404, { type: 'error', error: {} }), [/property 'message'/])
})

t.test('null is allowed where the description says nullable', async (t) => {
  const description = readDescription('github')
  const request = requestOf({ line: 'GET /repos/acme/app/branches/main' })
  const complaints = description.answerComplaints(request, 200, { name: null, commit: { author: null } })
  t.ok(complaints.some((complaint) => /\/name must be string/.test(complaint)))
  t.notOk(complaints.some((complaint) => /\/commit\/author /.test(complaint)))
})

t.test('a description that is not there is an error', async (t) => {
  t.throws(() => readDescription('nohost'), /ENOENT/)
})

t.test('each description begins with its source and its licence, and has its table of cases', async (t) => {
  const folder = join(import.meta.dirname, '../../providers/descriptions')
  const files = globSync('*.json', { cwd: folder }).sort()
  t.same(files, HOST_CASES.map(({ name }) => `${name}.json`).sort())
  for (const file of files) {
    const [first, source] =
      Object.entries<object>(JSON.parse(readFileSync(join(folder, file), 'utf8')))[0] ?? []
    t.equal(first, 'x-commitlet-source', file)
    t.same(Object.keys(source ?? {}), ['document', 'version', 'retrieved', 'licence', 'cut'], file)
  }
})
