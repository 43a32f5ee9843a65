import { parseAllDocuments } from 'yaml'
import { elements, member, textMember } from '../../functions/domain/json-value.ts'
import { onlyIf } from './edit.ts'
import { templateFiles } from './templates.ts'
import type { ReadText } from './templates.ts'
import { chartValues, valuesSchema, valuesText } from './values.ts'

const NOTICE = '# Generated from manifests/ by "npm run generate"; edit those files instead.\n'

const HELPERS = `{{- define "commitlet.labels" -}}
app.kubernetes.io/part-of: commitlet
app.kubernetes.io/managed-by: {{ .Release.Service }}
app.kubernetes.io/instance: {{ .Release.Name }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}
`

const SETTINGS = onlyIf(
  '.Values.settings',
  `apiVersion: v1
kind: ConfigMap
metadata:
  namespace: {{ .Release.Namespace }}
  name: commitlet-settings
  labels:
    {{- include "commitlet.labels" . | nindent 4 }}
data:
  {{- range $name, $value := .Values.settings }}
  {{ $name }}: {{ $value | toString | quote }}
  {{- end }}
`,
)

const DASHBOARD = onlyIf(
  '.Values.monitoring.enabled',
  `apiVersion: v1
kind: ConfigMap
metadata:
  namespace: {{ .Release.Namespace }}
  name: commitlet-dashboard
  labels:
    {{- include "commitlet.labels" . | nindent 4 }}
    grafana_dashboard: '1'
data:
  commitlet.json: {{ .Files.Get "dashboard.json" | quote }}
`,
)

const NOTES = `Commitlet is installed in {{ .Release.Namespace }}. Its pods wait for the Secret commitlet-stamp-key
{{- if eq .Values.certificate.from "secret" }}, and those of the webhook for commitlet-webhook-tls{{ end }}:

{{- if eq .Values.certificate.from "secret" }}
  NAMESPACE={{ .Release.Namespace }} manifests/setup/certificate.sh
{{- end }}
  NAMESPACE={{ .Release.Namespace }} manifests/setup/stamp-key.sh

Then continue with step 4 of docs/install.md.
`

/** The files of the Helm chart, by their path from charts/commitlet. */
export function chartFiles(read: ReadText): ReadonlyMap<string, string> {
  const version = textMember(JSON.parse(read('package.json')), 'version') ?? ''
  const values = chartValues(settingsOf(read))
  const templates = new Map([
    ...templateFiles(read),
    ['settings.yaml', SETTINGS] as const,
    ['dashboard.yaml', DASHBOARD] as const,
  ])
  return new Map([
    ['Chart.yaml', chartText(version)],
    ['values.yaml', NOTICE.replace('manifests/', 'manifests/chart/values.ts') + valuesText(values)],
    [
      'values.schema.json',
      `${JSON.stringify({ $schema: 'http://json-schema.org/draft-07/schema#', ...valuesSchema(values) }, null, 2)}\n`,
    ],
    ['dashboard.json', read('manifests/monitoring/dashboard.json')],
    ['templates/_helpers.tpl', HELPERS],
    ['templates/NOTES.txt', NOTES],
    ...[...templates].map(([file, text]) => [`templates/${file}`, NOTICE + text] as const),
  ])
}

function chartText(version: string): string {
  return `${NOTICE}apiVersion: v2
name: commitlet
description: Turns Kubernetes custom resources into Git commits and pull requests
type: application
version: ${version}
appVersion: ${version}
kubeVersion: '>=1.32.0-0'
`
}

/** The settings that both parts read from the ConfigMap. */
function settingsOf(read: ReadText): readonly string[] {
  const texts = [read('knative.yaml'), read('manifests/webhook.yaml')]
  const containers = texts.flatMap((text) =>
    parseAllDocuments(text).flatMap((document) => {
      const spec = member(member(member(document.toJS() as unknown, 'spec'), 'template'), 'spec')
      return elements(member(spec, 'containers'))
    }),
  )
  const names = containers.flatMap((container) =>
    elements(member(container, 'env')).flatMap((variable) => {
      const reference = member(member(variable, 'valueFrom'), 'configMapKeyRef')
      return textMember(reference, 'name') === 'commitlet-settings'
        ? [textMember(variable, 'name') ?? '']
        : []
    }),
  )
  return [...new Set(names)].toSorted()
}
