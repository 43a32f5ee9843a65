import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { parse } from 'yaml'
import { Failure } from '../../functions/domain/failure.ts'
import type { Envelope } from '../../functions/domain/resource/resource.ts'
import type { Status } from '../../functions/domain/resource/stored-status.ts'
import { restingStatus } from '../../functions/domain/resource/resting.ts'
import { claimed, failed, succeeded } from '../../functions/domain/resource/status.ts'
import { resource } from '../domain/fixtures/envelope.ts'
import { REQUIRED } from '../harness/control-plane.ts'
import { kstatus } from '../harness/kstatus.ts'
import { findLua } from '../harness/lua.ts'

const PAGE = readFileSync(join(import.meta.dirname, '../../docs/gitops.md'), 'utf8')
const BLOCKS = [...PAGE.matchAll(/^```yaml\n([^]*?)^```$/gm)].map(([, text = '']) => parse(text))
const CHECKS: Readonly<Record<string, string>> = BLOCKS.find(({ kind }) => kind === 'ConfigMap').data

const NOW = new Date('2026-03-01T10:00:00Z')
const FRESH: Status = { observedGeneration: -1, phase: 'Pending' }
const TERMS = { now: NOW, random: 0.25, limit: 12 }
const claim = { ...resource(FRESH), status: claimed(resource(FRESH), TERMS) }
const OUTCOME = { reason: 'Succeeded', message: 'Committed as "1234".', credentialsUsed: 'Primary' } as const
const done = succeeded(claim, OUTCOME, NOW)
const failedBy = (reason: 'NetworkError' | 'PushRejected' | 'AuthenticationFailed'): Status =>
  failed(claim, new Failure(reason, `${reason}: why.`), TERMS)
const held: Envelope = { ...resource(done), suspended: true }

/** A resource, what Argo CD shows for it, and the message; kstatus, by which Flux waits, agrees. */
const CASES: readonly (readonly [string, Envelope, string, RegExp, string])[] = [
  ['without a status', resource(), 'Progressing', /^Commitlet has not handled/, 'Current'],
  ['never attempted', resource(FRESH), 'Progressing', /^Commitlet has not handled/, 'InProgress'],
  ['in its first attempt', claim, 'Progressing', /^The first attempt is running\.$/, 'InProgress'],
  ['committed', resource(done), 'Healthy', /^Committed as "1234"\.$/, 'Current'],
  ['changed since', resource(done, { generation: 2 }), 'Progressing', /^Commitlet has not/, 'InProgress'],
  ['requested again', resource(done, { requestedAt: 'now' }), 'Progressing', /^Commitlet has not/, 'Current'],
  ['retried', resource(failedBy('NetworkError')), 'Progressing', /^NetworkError: why\./, 'InProgress'],
  ['retried slowly', resource(failedBy('AuthenticationFailed')), 'Degraded', /^Auth.*why\./, 'Failed'],
  ['failed', resource(failedBy('PushRejected')), 'Degraded', /^PushRejected: why\./, 'Failed'],
  [
    'suspended',
    { ...held, status: restingStatus(held, { now: NOW }) ?? done },
    'Suspended',
    /^Comm/,
    'Current',
  ],
]

/** A value as Lua writes it. */
function luaOf(value: unknown): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value)
  if (Array.isArray(value)) return `{${value.map(luaOf).join(',')}}`
  return `{${Object.entries(value)
    .map(([key, one]) => `[${JSON.stringify(key)}]=${luaOf(one)}`)
    .join(',')}}`
}

t.test('both kinds have the same health check', async (t) => {
  const [first, ...others] = Object.entries(CHECKS)
  t.strictSame(Object.keys(CHECKS), [
    'resource.customizations.health.commitlet.dev_GitCommit',
    'resource.customizations.health.commitlet.dev_PullRequest',
  ])
  for (const [, text] of others) t.equal(text, first?.[1])
})

t.test('by the health check Argo CD shows what happens', async (t) => {
  const lua = await findLua({ env: process.env, say: (line) => t.comment(line) })
  if (typeof lua !== 'string')
    return REQUIRED in process.env ? t.fail(lua.missing) : void t.pass('Lua', { skip: lua.missing })
  const check = Object.values(CHECKS)[0] ?? ''
  const file = join(t.testdir({}), 'check.lua')
  const calls = CASES.map(([, envelope]) => `show(check(${luaOf(envelope)}))`)
  // As Argo CD does: without the libraries for files and processes.
  const before = 'local print = print\nos, io, require, dofile, loadfile = nil\n'
  const show = 'local function show(h) print(h.status .. "\\t" .. h.message) end\n'
  writeFileSync(file, `${before}${show}local function check(obj)\n${check}end\n${calls.join('\n')}\n`)
  const lines = execFileSync(lua, [file], { encoding: 'utf8' }).trimEnd().split('\n')
  t.equal(lines.length, CASES.length)
  for (const [index, [title, , status, message]] of CASES.entries()) {
    const [shown, text] = (lines[index] ?? '').split('\t')
    t.equal(shown, status, title)
    t.match(text, message, title)
  }
})

t.test(
  'by the conditions Flux waits for what is not settled, and fails for what a person must fix',
  async (t) => {
    for (const [title, { metadata, status }, , , read] of CASES)
      t.equal(kstatus({ metadata: { ...metadata }, spec: {}, status: { ...status } }), read, title)
  },
)
