import { readFileSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'
import * as names from '../../../functions/domain/resource/api-names.ts'

const { API_VERSION, GROUP, PLURALS, VERSION } = names

for (const [kind, plural] of Object.entries(PLURALS)) {
  t.test(`${kind} is served under the names that the CRD installs`, async (t) => {
    const file = new URL(`../../../manifests/crds/${plural}.yaml`, import.meta.url)
    t.match(parse(readFileSync(file, 'utf8')), {
      metadata: { name: `${plural}.${GROUP}` },
      spec: { group: GROUP, names: { kind, plural }, versions: [{ name: VERSION }] },
    })
  })
}

t.test('every annotation belongs to the group', async (t) => {
  t.equal(API_VERSION, 'commitlet.dev/v1')
  t.strictSame(
    [
      names.REQUESTED_AT,
      names.REQUESTED_BY,
      names.REQUESTER,
      names.REQUESTER_SIGNATURE,
      names.ALLOWED_REPOSITORIES,
      names.ALLOWED_PATHS,
    ],
    [
      'commitlet.dev/requested-at',
      'commitlet.dev/requested-by',
      'commitlet.dev/requester',
      'commitlet.dev/requester-signature',
      'commitlet.dev/allowed-repositories',
      'commitlet.dev/allowed-paths',
    ],
  )
})
