import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { HOSTS } from '../../../functions/domain/repository/hosts.ts'
import { PROVIDERS } from '../../../functions/pull-request/provider-apis.ts'
import { isCounted, isDrawn, sample } from '../../harness/sample.ts'
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
/** The same in each host's folder; further files of a host have other names. */
const FILES = ['index.ts', 'pull-request.ts', 'details.ts', 'errors.ts', 'repository.ts']
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
  'every row of the hosts has a provider, a stand-in and a table of operations, and no folder more',
  async (t) => {
    const folders = readdirSync(FOLDER, { withFileTypes: true }).filter((entry) => entry.isDirectory())
    t.strictSame(folders.map(({ name }) => name).toSorted(), NAMES)
    for (const name of NAMES)
      t.same(
        FILES.filter((file) => !existsSync(join(FOLDER, name, file))),
        [],
        `${name} has the files that every host has`,
      )
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

const PAIRS = HOSTS.flatMap((host) =>
  Object.entries(GROUPS).flatMap(([group, cases]) =>
    cases
      .filter(({ spares }) => spares?.(host) !== true)
      .map(({ title, run }) => ({ host, title: `${group}: ${title}`, run })),
  ),
)
/** Of each case one host, and of the cases one of two; where lines are counted, all cases. */
const CHOSEN = sample(PAIRS, ({ title }) => title).filter(({ title }) => isCounted() || isDrawn(title, 2))

for (const host of HOSTS) {
  t.test(host.name, async (t) => {
    const dialect = await dialectOf(host.name)
    if (dialect === undefined) {
      t.fail('there is no stand-in for it')
      return
    }
    const site = await startSite(t)
    for (const { title, run } of CHOSEN.filter((one) => one.host === host)) {
      t.test(title, async (t) => {
        const stage = await startStage(t, site, { host, dialect })
        await run(t, stage)
        t.strictSame(stage.server.violations, [], "the host's operations allow every request")
      })
    }
  })
}
