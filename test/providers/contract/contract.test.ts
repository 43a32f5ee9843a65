import { existsSync, globSync } from 'node:fs'
import { basename, join } from 'node:path'
import t from 'tap'
import { HOSTS } from '../../../functions/domain/repository/hosts.ts'
import { PROVIDERS } from '../../../functions/pull-request/provider-apis.ts'
import { ANSWERS } from './answers.ts'
import type { Case } from './case.ts'
import { DETAILS_CASES } from './details.ts'
import { OPENING } from './opening.ts'
import { OUTAGES } from './outages.ts'
import { OWNERSHIP } from './ownership.ts'
import { REFUSALS } from './refusals.ts'
import { DIALECTS, dialectOf } from './rows.ts'
import { startSite } from './site.ts'
import { startStage } from './stage.ts'
import { TRAITS } from './traits.ts'

const FOLDER = join(import.meta.dirname, '../../../functions/providers')
const NAMES = HOSTS.map(({ name }) => name).toSorted()

const GROUPS: Readonly<Record<string, readonly Case[]>> = {
  opening: OPENING,
  ownership: OWNERSHIP,
  details: DETAILS_CASES,
  refusals: REFUSALS,
  outages: OUTAGES,
  answers: ANSWERS,
}

t.test(
  'every row of the hosts has a provider, a stand-in and a table of operations, and no file more',
  async (t) => {
    const files = globSync('*.ts', { cwd: FOLDER }).map((file) => basename(file, '.ts'))
    // What is long has files of its own, such as github-answers.ts.
    t.strictSame(files.filter((name) => !name.includes('-')).toSorted(), NAMES)
    for (const part of files) t.ok(NAMES.includes(part.split('-')[0] ?? ''), part)
    t.strictSame(Object.keys(PROVIDERS).toSorted(), NAMES, 'they are in the map that the bundler sees')
    t.strictSame(Object.keys(TRAITS).toSorted(), NAMES, 'the suite knows in what it differs')
    for (const name of NAMES) {
      const dialect = await dialectOf(name)
      t.equal(dialect?.name, name, `the dialect of ${name}`)
      t.not(Object.keys(dialect?.operations ?? {}).length, 0, `the operations of ${name}`)
      t.ok(existsSync(join(DIALECTS, `recorded/${name}.txt`)), `the recorded requests of ${name}`)
    }
  },
)

for (const host of HOSTS) {
  t.test(host.name, async (t) => {
    const dialect = await dialectOf(host.name)
    if (dialect === undefined) {
      t.fail('there is no stand-in for it')
      return
    }
    const site = await startSite(t)
    for (const [group, cases] of Object.entries(GROUPS)) {
      for (const { title, spares, run } of cases) {
        if (spares?.(host) === true) continue
        t.test(`${group}: ${title}`, async (t) => {
          const stage = await startStage(t, site, { host, dialect })
          await run(t, stage)
          t.strictSame(stage.server.violations, [], "the host's operations allow every request")
        })
      }
    }
  })
}
