import t from 'tap'
import { readTraceparent, traceparentOf } from '../../../functions/domain/telemetry/trace-context.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
const SAMPLED = { traceId: TRACE, spanId: SPAN, sampled: true }

const VALID: readonly (readonly [string, boolean])[] = [
  [`00-${TRACE}-${SPAN}-01`, true],
  [`00-${TRACE}-${SPAN}-00`, false],
  // Of the flags only the lowest bit is known; a later version may have more fields.
  [`00-${TRACE}-${SPAN}-ff`, true],
  [`cc-${TRACE}-${SPAN}-02-what-else`, false],
]

const INVALID: readonly unknown[] = [
  undefined,
  7,
  '',
  [`00-${TRACE}-${SPAN}-01`],
  `00-${TRACE}-${SPAN}`,
  `00-${TRACE}-${SPAN}-01-more`,
  `00-${TRACE}-${SPAN}-01.`,
  ` 00-${TRACE}-${SPAN}-01`,
  `00-${TRACE.toUpperCase()}-${SPAN}-01`,
  `00-${'0'.repeat(32)}-${SPAN}-01`,
  `00-${TRACE}-${'0'.repeat(16)}-01`,
  `ff-${TRACE}-${SPAN}-01`,
  `0-${TRACE}-${SPAN}-01`,
  `cc-${TRACE}-${SPAN}-01-${'x'.repeat(600)}`,
]

t.test('what is valid is read, and written as version 00', async (t) => {
  for (const [value, sampled] of VALID) t.strictSame(readTraceparent(value), { ...SAMPLED, sampled }, value)
  t.equal(traceparentOf(SAMPLED), `00-${TRACE}-${SPAN}-01`)
  t.equal(traceparentOf({ ...SAMPLED, sampled: false }), `00-${TRACE}-${SPAN}-00`)
})

t.test('anything else is nothing', async (t) => {
  for (const value of INVALID) t.equal(readTraceparent(value), undefined, String(value))
})
