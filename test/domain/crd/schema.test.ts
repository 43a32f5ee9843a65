import { Ajv } from 'ajv'
import t from 'tap'
import { GITCOMMIT_SPEC } from '../../../functions/domain/crd/git-commit.ts'
import { PULLREQUEST_SPEC } from '../../../functions/domain/crd/pull-request.ts'
import { GITCOMMIT_STATUS } from '../../../functions/domain/crd/git-commit-status.ts'
import { PULLREQUEST_STATUS } from '../../../functions/domain/crd/status.ts'
import type { Schema } from '../../../functions/domain/crd/schema.ts'

const ALL = {
  ...fieldsOf('gitcommit.spec', GITCOMMIT_SPEC),
  ...fieldsOf('gitcommit.status', GITCOMMIT_STATUS),
  ...fieldsOf('pullrequest.spec', PULLREQUEST_SPEC),
  ...fieldsOf('pullrequest.status', PULLREQUEST_STATUS),
}

function fieldsOf(path: string, schema: Schema): Record<string, Schema> {
  const inner = Object.entries(schema.properties ?? {}).map(([name, field]) =>
    fieldsOf(`${path}.${name}`, field),
  )
  const items = schema.items === undefined ? {} : fieldsOf(`${path}[]`, schema.items)
  return Object.assign({ [path]: schema }, items, ...inner)
}

t.test('every field has a description that is a sentence, with an example in the spec', async (t) => {
  for (const [path, { description, type }] of Object.entries(ALL)) {
    t.match(description, /^[A-Z-].*[.)}\]"A-Za-z0-9/]$/s, path)
    const isLeafOfSpec = path.includes('.spec.') && type === 'string' && !path.endsWith('[]')
    if (isLeafOfSpec) t.match(description, /Example: /, path)
  }
})

t.test('every string and list is bounded, so that no rule can cost too much', async (t) => {
  for (const [path, schema] of Object.entries(ALL)) {
    if (schema.type === 'string') t.ok(schema.maxLength, path)
    if (schema.type === 'array') t.ok(schema.maxItems, path)
    if (schema.type === 'object') t.ok(schema.properties, path)
  }
})

t.test('every field of a spec that has a pattern says what it expects', async (t) => {
  for (const [path, schema] of Object.entries(ALL)) {
    if (path.includes('.spec.') && schema.pattern !== undefined) t.ok(schema.expects, path)
  }
})

t.test('patterns mean the same to Go and to JavaScript', async (t) => {
  for (const [path, { pattern }] of Object.entries(ALL)) {
    if (pattern === undefined) continue
    t.doesNotThrow(() => new RegExp(pattern, 'u'), path)
    // RE2 has no look-around and no back-references; \d, \w and \b differ with Unicode.
    t.notMatch(pattern, /\(\?|\\[1-9dwbpu]/, path)
  }
})

t.test('each schema is a JSON Schema', async (t) => {
  const ajv = new Ajv()
  for (const schema of [GITCOMMIT_SPEC, GITCOMMIT_STATUS, PULLREQUEST_SPEC, PULLREQUEST_STATUS]) {
    t.ok(ajv.validateSchema(schema), ajv.errorsText())
  }
})

t.test('maps and lists merge as specified', async (t) => {
  for (const field of ['credentials', 'fallbackCredentials', 'resourceRef', 'providerConfig']) {
    t.equal(GITCOMMIT_SPEC.properties?.[field]?.['x-kubernetes-map-type'], 'atomic', field)
  }
  for (const field of ['labels', 'reviewers', 'assignees']) {
    t.equal(PULLREQUEST_SPEC.properties?.[field]?.['x-kubernetes-list-type'], 'set', field)
  }
  t.equal(GITCOMMIT_SPEC.properties?.files?.['x-kubernetes-list-type'], 'atomic')
  t.same(GITCOMMIT_STATUS.properties?.conditions?.['x-kubernetes-list-map-keys'], ['type'])
  t.same(GITCOMMIT_STATUS.default, { observedGeneration: -1, phase: 'Pending' })
})
