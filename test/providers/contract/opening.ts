import { readMarker } from '../../../functions/domain/pull-request/marker.ts'
import { addPull } from '../../harness/hosts/model.ts'
import { waitFor } from '../../harness/wait.ts'
import type { Case } from './case.ts'
import { after, BASE, BODY, changed, HEAD, TITLE, writes } from './stage.ts'
import { TRAITS } from './traits.ts'

const PATIENCE = 5_000

/** From a spec to one open pull request. */
export const OPENING: readonly Case[] = [
  {
    title: 'it is opened, with at most three requests, one of which writes',
    async run(t, stage) {
      const outcome = await stage.attempt(stage.resource())
      const [pull] = stage.model.pulls
      t.match(outcome, { reason: 'Succeeded', pullRequest: { number: pull?.number, state: 'open' } })
      t.match(outcome.pullRequest?.url, /^https:\/\/\S+\/1$/)
      t.match(pull, { base: BASE, head: HEAD, title: TITLE, draft: false, state: 'open' })
      t.ok(pull?.body.startsWith(`${BODY}\n\n[commitlet:`), 'the marker is last')
      const requests = stage.requests()
      t.ok(requests.length <= 3, requests.map(({ method, path }) => `${method} ${path}`).join(', '))
      t.equal(writes(requests).length, 1)
    },
  },
  {
    title: 'requested again it is the same one, and nothing is written',
    async run(t, stage) {
      const resource = stage.resource()
      const first = await stage.attempt(resource)
      stage.requests()
      const forgotten = await stage.attempt(resource, { again: true })
      const known = await stage.attempt(after(resource, first))
      for (const again of [forgotten, known]) {
        t.match(again, { reason: 'UpToDate', pullRequest: first.pullRequest })
        t.match(again.message, /^#1 is open: https:/)
      }
      const requests = stage.requests()
      t.strictSame(writes(requests), [])
      t.equal(requests.length, 2, 'one look each')
      t.equal(stage.model.pulls.length, 1)
    },
  },
  {
    title: 'two resources of one process that ask at the same moment get the same one',
    async run(t, stage) {
      const [first, second] = [stage.resource(), stage.resource()]
      const outcomes = await Promise.all([stage.attempt(first), stage.attempt(second)])
      t.strictSame(
        outcomes.map(({ reason }) => reason),
        ['Succeeded', 'UpToDate'],
      )
      t.match(outcomes[1].message, /was opened by someone else/)
      t.equal(stage.model.pulls.length, 1)
      t.equal(writes(stage.requests()).length, 1)
    },
  },
  {
    title: 'two processes that create at the same moment get what the host does, and agree afterwards',
    async run(t, stage) {
      const [first, second] = [stage.resource(), stage.resource()]
      let here = 0
      const both = (): Promise<true> =>
        waitFor('second creation', () => (here >= 2 ? true : undefined), PATIENCE)
      const arrive = async (): Promise<void> => {
        here += 1
        await both()
      }
      stage.server.fail({ kind: 'meanwhile', happens: arrive }, (method) => method === 'POST')
      stage.server.fail({ kind: 'meanwhile', happens: arrive }, (method) => method === 'POST')
      const outcomes = await Promise.all([
        stage.attempt(first),
        stage.attempt(second, { by: stage.elsewhere }),
      ])
      const race = TRAITS[stage.host.name]?.race
      t.equal(stage.model.pulls.length, race === 'two' ? 2 : 1)
      t.equal(writes(stage.requests()).length, 2, 'both have asked')
      const settled = await Promise.all([
        stage.attempt(after(first, outcomes[0])),
        stage.attempt(after(second, outcomes[1])),
      ])
      t.strictSame(writes(stage.requests()), [], 'neither writes again')
      const left = settled.filter(({ message }) => message.includes('left unchanged'))
      t.equal(left.length, race === 'two' ? 0 : 1, 'one of them owns what is open')
    },
  },
  {
    title: 'one that a person opens between search and creation is left as it is, where the host reports it',
    async run(t, stage) {
      const open = (): void => void addPull(stage.model, { base: BASE, head: HEAD, title: 'By hand' })
      stage.server.fail({ kind: 'meanwhile', happens: open }, (method) => method === 'POST')
      const outcome = await stage.attempt(stage.resource())
      t.match(outcome, { pullRequest: { number: 1, state: 'open' } })
      t.equal(stage.model.pulls.length, 1)
      const silent = TRAITS[stage.host.name]?.race === 'last'
      t.equal(stage.model.pulls[0]?.title, silent ? TITLE : 'By hand')
      t.equal(outcome.reason, silent ? 'Succeeded' : 'UpToDate')
    },
  },
  {
    title: 'branches with special characters of addresses and queries are opened and found again',
    async run(t, stage) {
      const [baseBranch, headBranch] = ['release/1.x%2F&a=b', `team/#1+2"é";%41='$x`]
      stage.model.branches.set(baseBranch, 1)
      stage.model.branches.set(headBranch, 2)
      const resource = stage.resource({ baseBranch, headBranch })
      t.match(await stage.attempt(resource), { reason: 'Succeeded', pullRequest: { number: 1 } })
      t.match(stage.model.pulls, [{ base: baseBranch, head: headBranch }])
      const again = await stage.attempt(resource, { again: true })
      t.match(again, { reason: 'UpToDate', message: /^#1 is open: / })
    },
  },
  {
    title: 'a head that does not exist (yet) is retried',
    async run(t, stage) {
      const resource = stage.resource({ headBranch: 'later' })
      t.match(await stage.failure(resource), { reason: 'HeadNotFound', message: /the branch later \(yet\)/ })
      t.equal(stage.model.pulls.length, 0)
      stage.model.branches.set('later', 2)
      t.match(await stage.attempt(resource, { again: true }), { reason: 'Succeeded' })
    },
  },
  {
    title: 'a base that does not exist is named',
    async run(t, stage) {
      const resource = stage.resource({ baseBranch: 'release' })
      t.match(await stage.failure(resource), {
        reason: 'HeadNotFound',
        message: /the branch release \(yet\)/,
      })
      t.equal(stage.model.pulls.length, 0)
    },
  },
  {
    title: 'branches without a difference have nothing to merge, until there is a commit',
    async run(t, stage) {
      stage.model.branches.set(HEAD, 1)
      const resource = stage.resource()
      t.match(await stage.failure(resource), { reason: 'NothingToMerge', message: /settings .* main/ })
      t.equal(stage.model.pulls.length, 0, 'no empty one is opened')
      stage.model.branches.set(HEAD, 2)
      t.match(await stage.attempt(resource, { again: true }), { reason: 'Succeeded' })
    },
  },
  {
    title: 'a draft is opened as one, and stays one when its text changes',
    async run(t, stage) {
      const resource = stage.resource({ draft: true })
      const outcome = await stage.attempt(resource)
      t.match(stage.model.pulls, [{ draft: true }])
      stage.requests()
      t.match(await stage.attempt(after(resource, outcome)), { message: /is open: / })
      t.strictSame(writes(stage.requests()), [])
      const next = changed(after(resource, outcome), { title: 'Another title' })
      t.match(await stage.attempt(next), { reason: 'Succeeded', message: /^Updated/ })
      t.match(stage.model.pulls, [{ draft: true, title: /Another title$/ }])
    },
  },
  ...[
    { name: 'lines that begin with a slash', title: TITLE, body: 'a\n/close\n  /merge now\n\\/as it was\n/' },
    {
      name: 'letters of all the world',
      title: 'Größe 大きさ 📏 «x»',
      body: '# Ünïcode 🧵\n\u00a0nbsp & <b>',
    },
    { name: 'CRLF at the ends of lines', title: `  ${TITLE}  `, body: 'one\r\ntwo\r\n\r\nthree  \r\n' },
    { name: 'a quote, a backslash and a percent sign', title: '"A" \\ 100% of it', body: '`"\\n" %2F`' },
    { name: 'no body', title: TITLE, body: '' },
  ].map(({ name, title, body }): Case => ({
    title: `a text with ${name} comes back as it was written, and is written once`,
    async run(t, stage) {
      const resource = stage.resource({ title, body })
      const outcome = await stage.attempt(resource)
      const known = after(resource, outcome)
      stage.requests()
      t.match(await stage.attempt(known), { reason: 'UpToDate', message: /^#1 is open: / })
      t.strictSame(writes(stage.requests()), [])
      const branches = { base: BASE, head: HEAD, headOwner: undefined }
      const shown = await stage.work(resource, (pullRequests) => pullRequests.read(1, branches))
      const marker = shown === undefined ? undefined : readMarker(shown)
      t.match(marker, { title: title.trim(), body: body.replaceAll('\r\n', '\n').trim(), edited: false })
      const next = changed(known, { body: `${body}\n/assign @dev` })
      t.match(await stage.attempt(next), { message: /^Updated/ })
      t.match(await stage.attempt(after(next, outcome)), { message: /^#1 is open: / })
    },
  })),
]
