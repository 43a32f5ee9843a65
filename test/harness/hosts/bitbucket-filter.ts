import { member } from '../../../functions/domain/json-value.ts'

const TERM = /([a-z_.]+) (!?=) "((?:[^"\\]|\\.)*)"/
const QUERY = new RegExp(`^${TERM.source}(?: AND ${TERM.source})*$`)

/** Is it a filter of Bitbucket's, as far as it is spoken here: equal or not, all at once? */
export function isQuery(q: string): boolean {
  return QUERY.test(q)
}

/** Whether an object has what the filter asks for. */
export function fits(q: string, object: unknown): boolean {
  return [...q.matchAll(new RegExp(TERM, 'g'))].every(([, field = '', operator, text = '']) => {
    const value = field.split('.').reduce(member, object)
    const same = value === text.replace(/\\(.)/g, '$1')
    return same === (operator === '=')
  })
}
