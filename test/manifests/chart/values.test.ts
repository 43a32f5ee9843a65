import { Ajv } from 'ajv'
import t from 'tap'
import { parse } from 'yaml'
import { chartValues, valuesSchema, valuesText } from '../../../manifests/chart/values.ts'

const VALUES = chartValues(['ALLOWED_REPOSITORIES', 'RETRY_LIMIT'])
const isValid = new Ajv({ strictTypes: false }).compile(valuesSchema(VALUES))

/** The default values with these in their place. */
function changed(path: string, value: unknown): unknown {
  const values: Record<string, Record<string, unknown>> = parse(valuesText(VALUES))
  const [group = '', name] = path.split('.')
  if (name === undefined) return { ...values, [group]: value }
  return { ...values, [group]: { ...values[group], [name]: value } }
}

t.test('the default values fit their schema, and each says what it is', async (t) => {
  const text = valuesText(VALUES)
  t.ok(isValid(parse(text)))
  const leaves = text.match(/^ *# .+\.$/gm) ?? []
  t.ok(leaves.length > 15, `${leaves.length} values`)
})

t.test('what the schema accepts', async (t) => {
  for (const [path, value] of [
    ['function.kind', 'deployment'],
    ['certificate.from', 'webhook'],
    ['webhook.sink', 'https://broker.example.com/a'],
    ['webhook.env', [{ name: 'LOG_LEVEL', value: 'debug' }]],
    ['image.pullSecrets', [{ name: 'registry' }]],
    ['settings', { ALLOWED_REPOSITORIES: 'git.example.com', RETRY_LIMIT: 3 }],
    ['global', {}],
  ] as const)
    t.ok(isValid(changed(path, value)), `${path} ${JSON.stringify(isValid.errors)}`)
})

t.test('what the schema refuses', async (t) => {
  for (const [path, value] of [
    ['function.kind', 'lambda'],
    ['certificate.from', 'file'],
    ['webhook.sink', 'the broker'],
    ['webhook.replicas', '2'],
    ['function.timeoutSeconds', 30],
    ['settings', { ALOWED_REPOSITORIES: 'git.example.com' }],
    ['settings', { NODE_OPTIONS: '--inspect' }],
    ['openshift', 'yes'],
    ['replicas', 2],
    ['image.name', 'commitlet'],
  ] as const)
    t.notOk(isValid(changed(path, value)), path)
})
