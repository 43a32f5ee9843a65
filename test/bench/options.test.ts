import t from 'tap'
import { readOptions } from '../../bench/options.ts'
import { GROUPS } from '../../bench/results.ts'

t.test('everything is measured unless some groups are named, which run in their usual order', async (t) => {
  t.match(readOptions([]), { groups: GROUPS, short: false, render: false })
  t.match(readOptions(['--short', '--only=burst,start']), { groups: ['start', 'burst'], short: true })
})

t.test('what is not known is refused with what is', async (t) => {
  t.match(readOptions(['--only=commit,nothing']), /^nothing is none of .*pull-requests/)
  t.match(readOptions(['--quick']), /--quick/)
})
