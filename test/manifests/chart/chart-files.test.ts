import { readdirSync } from 'node:fs'
import t from 'tap'
import { parse } from 'yaml'
import { chartFiles } from '../../../manifests/chart/chart-files.ts'
import { ROOT } from '../read.ts'
import { readText } from './stage.ts'

const FILES = chartFiles(readText)
const templates = [...FILES].filter(([path]) => path.startsWith('templates/'))
const CHART = 'charts/commitlet'

/** Kind and name of each object of a YAML text, whatever else is in it. */
function objectsIn(text: string): readonly string[] {
  return text.split(/^---$/m).flatMap((document) => {
    const [, kind] = /^kind: (.+)$/m.exec(document) ?? []
    const [, name] = /^ {2}name: (.+)$/m.exec(document) ?? []
    return kind === undefined || name === undefined ? [] : [`${kind} ${name}`]
  })
}

t.test('the chart has every object of the manifests, and no other', async (t) => {
  const sources = [
    ...readdirSync(new URL('manifests', ROOT)).map((file) => `manifests/${file}`),
    ...readdirSync(new URL('manifests/crds', ROOT)).map((file) => `manifests/crds/${file}`),
    'manifests/optional/reader-workloads.yaml',
    'manifests/monitoring/pod-monitors.yaml',
    'manifests/monitoring/rules.yaml',
    'overlays/cert-manager/certificates.yaml',
    'overlays/own-certificate/rights.yaml',
    'overlays/without-knative/function.yaml',
    'knative.yaml',
  ].filter((file) => file.endsWith('.yaml'))
  const expected = sources.flatMap((file) => objectsIn(readText(file)))
  const found = templates.flatMap(([, text]) => objectsIn(text))
  const added = ['ConfigMap commitlet-settings', 'ConfigMap commitlet-dashboard']
  const namespace = 'Namespace commitlet-system'
  t.ok(found.length > 30, `${found.length} objects`)
  t.strictSame(
    found.toSorted(),
    [...expected.filter((one) => one !== namespace && !one.startsWith('Kustomization')), ...added].toSorted(),
  )
})

t.test('nothing of the manifests is left that a release decides', async (t) => {
  for (const [path, text] of templates) {
    t.notMatch(text, /commitlet-system|registry\.example\.com|svc\.cluster\.local$/m, path)
    t.equal(text.match(/\{\{/g)?.length, text.match(/\}\}/g)?.length, path)
  }
})

t.test('the version is that of the package', async (t) => {
  const { version } = JSON.parse(readText('package.json'))
  t.match(parse(FILES.get('Chart.yaml') ?? ''), { name: 'commitlet', version, appVersion: version })
})

t.test('a setting of either part can be given', async (t) => {
  const { properties } = JSON.parse(FILES.get('values.schema.json') ?? '')
  const known = Object.keys(properties.settings.properties)
  for (const name of ['ALLOWED_REPOSITORIES', 'COMMIT_AUTHOR_NAME', 'REQUESTER_EXTRA'])
    t.ok(known.includes(name), name)
})

t.test('the files are in the chart, and nothing else is', async (t) => {
  const there = readdirSync(new URL(CHART, ROOT), { recursive: true, withFileTypes: true })
  const files = there.filter((entry) => entry.isFile()).map(({ parentPath, name }) => `${parentPath}/${name}`)
  t.strictSame(
    files.map((file) => file.slice(file.indexOf(CHART) + CHART.length + 1)).toSorted(),
    [...FILES.keys()].toSorted(),
  )
})
