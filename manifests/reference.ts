import { GROUP, VERSION } from '../functions/domain/resource/api-names.ts'
import type { Kind } from '../functions/domain/resource/api-names.ts'
import { TYPE_NAMES, type Schema } from '../functions/domain/crd/schema.ts'

/** What a page describes. */
export interface Described {
  readonly kind: Kind
  readonly description: string
  readonly spec: Schema
  readonly status: Schema
}

/** Where each kind is explained rather than listed. */
const EXPLAINED: Readonly<Record<Kind, string>> = {
  GitCommit: '[GitCommit](gitcommit.md)',
  PullRequest: '[Pull requests](pull-requests.md)',
}
const EXAMPLE = /^(?<text>[^]*?)\s*Example: (?<example>[^]+)$/

/** The page of docs/ with all fields of the kind: a table for each object, from its schema. */
export function referencePage({ kind, description, spec, status }: Described): string {
  return [
    '<!-- Generated from functions/domain/crd/*.ts by "npm run generate"; edit those files instead. -->',
    '',
    `# All fields of ${kind}`,
    '',
    `\`apiVersion: ${GROUP}/${VERSION}\`, \`kind: ${kind}\`. ${description}`,
    '',
    `${EXPLAINED[kind]} explains how they are used. \`kubectl explain ${kind.toLowerCase()}.spec\` prints the same.`,
    '',
    ...tables('spec', spec),
    ...tables('status', status),
  ].join('\n')
}

/** The lines for one object, and then those of the objects within it. */
function tables(path: string, schema: Schema): readonly string[] {
  const { properties = {}, required = [], description } = schema
  const rules = rulesOf(schema)
  const rows = Object.entries(properties).map(([name, field]) => {
    const must = required.includes(name) ? ', required' : ''
    return `| \`${name}\` | ${typeOf(field)}${must} | ${meaningOf(field)} |`
  })
  const inner = Object.entries(properties).flatMap(([name, field]) => {
    const [object, suffix] = field.type === 'array' ? [field.items, '[]'] : [field, '']
    return object?.properties === undefined ? [] : tables(`${path}.${name}${suffix}`, object)
  })
  const level = path.includes('.') ? '###' : '##'
  const { text = description } = EXAMPLE.exec(description)?.groups ?? {}
  const head = [`${level} ${path}`, '', inWords(text), '']
  const list = rules.length === 0 ? [] : [...rules.map((rule) => `- ${rule}`), '']
  return [...head, ...list, '| field | type | meaning |', '|---|---|---|', ...rows, '', ...inner]
}

/** The sentences of the rules for several fields. */
function rulesOf(schema: Schema): readonly string[] {
  const { oneRequired = [] } = schema
  const one = oneRequired.length === 0 ? [] : [`Set exactly one of ${oneRequired.join(', ')}.`]
  return [...one, ...(schema['x-kubernetes-validations'] ?? []).map(({ message }) => inWords(message))]
}

function typeOf({
  type,
  items,
  minItems,
  maxItems,
  minLength,
  maxLength,
  minimum,
  maximum,
  ...rest
}: Schema): string {
  if (type === undefined) return 'any value'
  if (type === 'array')
    return `${TYPE_NAMES.array}${between(minItems, maxItems, ' entries')}${items?.type === 'string' ? ' of strings' : ''}`
  if (rest.format === 'date-time') return 'a time'
  const bounds =
    type === 'string' ? between(minLength, maxLength, ' characters') : between(minimum, maximum, '')
  return `${TYPE_NAMES[type]}${rest.enum === undefined ? bounds : ''}`
}

function between(least: number | undefined, most: number | undefined, unit: string): string {
  const [low, high] = [least, most].map((bound) => bound?.toLocaleString('en-US'))
  if (high === undefined) return low === undefined || least === 0 ? '' : ` from ${low}${unit}`
  return least === undefined || least <= 1 ? ` up to ${high}${unit}` : ` from ${low ?? ''} to ${high}${unit}`
}

/** The description with its example as code, the values that are allowed, the default, and the rules for this field. */
function meaningOf(schema: Schema): string {
  const { text = schema.description, example } = EXAMPLE.exec(schema.description)?.groups ?? {}
  const values = schema.enum?.map((value) => `\`${value}\``).join(', ')
  const own = schema.properties === undefined ? rulesOf(schema) : []
  return [
    inWords(text),
    ...(example === undefined ? [] : [`Example: ${code(example)}`]),
    ...(values === undefined ? [] : [`One of ${values}.`]),
    ...own,
  ].join('<br>')
}

function code(text: string): string {
  const escaped = text.replaceAll('|', '\\|')
  return text.includes('`') ? `\`\` ${escaped} \`\`` : `\`${escaped}\``
}

/** A text of a schema as Markdown, in which no character has a meaning of its own. */
function inWords(text: string): string {
  return text.replace(/[\\`*_<>[\]|{}]/g, (mark) => (mark === '<' ? '&lt;' : `\\${mark}`))
}
