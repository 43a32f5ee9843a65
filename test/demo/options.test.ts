import t from 'tap'
import { readOptions } from '../../demo/options.ts'

const RIGHT = [
  { args: [], options: { run: 'story' } },
  { args: ['--verbose'], options: { run: 'memory' } },
  { args: ['--cluster'], options: { run: 'cluster', keep: false } },
  { args: ['--keep', '--cluster'], options: { run: 'cluster', keep: true } },
  { args: ['--cluster', '--help'], options: { run: 'help' } },
  { args: ['-h'], options: { run: 'help' } },
]
for (const { args, options } of RIGHT) {
  t.test(`"${args.join(' ')}" asks for ${options.run}`, async (t) => {
    t.same(readOptions(args), options)
  })
}

const WRONG = [
  { args: ['--kepp'], named: '--kepp' },
  { args: ['cluster'], named: 'cluster' },
  { args: ['--cluster', 'now'], named: 'now' },
  { args: ['--cluster=no'], named: '--cluster=no' },
  { args: ['-x'], named: '-x' },
  { args: ['--no-cluster'], named: '--no-cluster' },
  { args: ['--', 'more'], named: '--' },
]
for (const { args, named } of WRONG) {
  t.test(`"${args.join(' ')}" is refused by name`, async (t) => {
    t.match(readOptions(args), { wrong: `Unknown argument "${named}"` })
  })
}

t.test('--verbose with --cluster is refused', async (t) => {
  t.match(readOptions(['--cluster', '--verbose']), { wrong: '--cluster prints everything already' })
})

t.test('--keep without --cluster is refused', async (t) => {
  t.match(readOptions(['--keep']), { wrong: '--keep needs --cluster' })
})
