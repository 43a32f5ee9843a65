import { member } from '../../../functions/domain/json-value.ts'

const TERM = /([a-z_.]+) (!?=) "((?:[^"\\]|\\.)*)"/
const QUERY = new RegExp(`^${TERM.source}(?: AND ${TERM.source})*$`)

/** Whether it is a Bitbucket filter of the supported subset: equal or not, joined with AND. */
export function isQuery(q: string): boolean {
  return QUERY.test(q)
}

/** Whether an object matches the filter. */
export function fits(q: string, object: unknown): boolean {
  return [...q.matchAll(new RegExp(TERM, 'g'))].every(([, field = '', operator, text = '']) => {
    const value = field.split('.').reduce(member, object)
    const same = value === text.replace(/\\(.)/g, '$1')
    return same === (operator === '=')
  })
}
