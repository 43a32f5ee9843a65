import { onlyIf, templateOf } from './edit.ts'
import type { Edit } from './edit.ts'

/** Reads a file of the project, by its path from the top. */
export type ReadText = (path: string) => string

const IMAGE: Edit = [
  'image: registry.example.com/commitlet:0.1.0',
  'image: {{ printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) | quote }}',
]
/** Not one of the values: a group of Helm's own in each of them. */
const SETTINGS_CHECKSUM = '{{ toJson .Values.settings | sha256sum | quote }}'

/** More variables of a part, after the port of its metrics. */
function variables(part: string, more = ''): Edit {
  return [
    `            - name: METRICS_PORT\n              value: '9464'\n`,
    `            - name: METRICS_PORT\n              value: '9464'\n${more}            {{- with .Values.${part}.env }}\n            {{- toYaml . | nindent 12 }}\n            {{- end }}\n`,
  ]
}

function resources(part: string): Edit {
  return [
    /^ {10}resources:\n(?: {12}.*\n)+/,
    `          resources:\n            {{- toYaml .Values.${part}.resources | nindent 12 }}\n`,
  ]
}

/** The priority of the pods of a part, which may have none. */
function priorityOf(part: string): string {
  return `      {{- with .Values.${part}.priorityClassName }}\n      priorityClassName: {{ . | quote }}\n      {{- end }}\n`
}

const CRITICAL = /^ {6}priorityClassName: system-cluster-critical\n/

function notOnOpenShift(lines: RegExp, text: string): Edit {
  return [lines, `{{- if not .Values.openshift }}\n${text}{{- end }}\n`]
}

/**
 * As a file of values has it, a large number would be written as 1.5e+09 otherwise. With --reuse-values, there is none of a release before
 * it had this value.
 */
const USER = '{{ int64 (default 65532 .Values.runAsUser) }}'
const USER_OF_FUNCTION = notOnOpenShift(
  /^ {12}runAsUser: 65532\n {12}runAsGroup: 65532\n/,
  `            runAsUser: ${USER}\n            runAsGroup: ${USER}\n`,
)
/** Of a ServiceAccount, whose document ends with its name. */
const PULL_SECRETS: readonly Edit[] = ['function', 'webhook'].map((part): Edit => [
  new RegExp(`^ {2}name: commitlet-${part}$`),
  `  name: commitlet-${part}\n{{- with .Values.image.pullSecrets }}\nimagePullSecrets:\n  {{- toYaml . | nindent 2 }}\n{{- end }}`,
])
const OWN = 'eq .Values.certificate.from "webhook"'
const FROM_SECRET = 'ne .Values.certificate.from "webhook"'
const TLS_SECRET = `            {{- if ${OWN} }}\n            - name: TLS_SECRET\n              value: commitlet-webhook-certificate\n            {{- end }}\n`
const TLS_MOUNT =
  '            - name: tls\n              mountPath: /etc/webhook/tls\n              readOnly: true\n'
const TLS_VOLUME =
  '        - name: tls\n          secret:\n            secretName: commitlet-webhook-tls\n            defaultMode: 288 # 0440\n'

const WEBHOOK: readonly Edit[] = [
  IMAGE,
  [/^ {2}replicas: 2$/, '  replicas: {{ .Values.webhook.replicas }}'],
  [
    'value: http://commitlet-function.commitlet-system.svc.cluster.local',
    'value: {{ .Values.webhook.sink | default (printf "http://commitlet-function.%s.svc.%s" .Release.Namespace .Values.clusterDomain) | quote }}',
  ],
  [
    /^ {6}labels:\n {8}app\.kubernetes\.io\/name: commitlet-webhook\n/,
    `      annotations:\n        checksum/settings: ${SETTINGS_CHECKSUM}\n      labels:\n        app.kubernetes.io/name: commitlet-webhook\n`,
  ],
  variables('webhook', TLS_SECRET),
  resources('webhook'),
  [CRITICAL, priorityOf('webhook')],
  notOnOpenShift(
    /^ {8}runAsUser: 65532\n {8}runAsGroup: 65532\n.*\n {8}fsGroup: 65532\n/,
    `        runAsUser: ${USER}\n        runAsGroup: ${USER}\n        # The group of the files in both Secrets.\n        fsGroup: ${USER}\n`,
  ),
  [TLS_MOUNT, `            {{- if ${FROM_SECRET} }}\n${TLS_MOUNT}            {{- end }}\n`],
  [TLS_VOLUME, `        {{- if ${FROM_SECRET} }}\n${TLS_VOLUME}        {{- end }}\n`],
]

const KNATIVE: readonly Edit[] = [
  IMAGE,
  [/min-scale: '0'/, 'min-scale: {{ .Values.function.minScale | quote }}'],
  [/max-scale: '4'/, 'max-scale: {{ .Values.function.maxScale | quote }}'],
  [
    /knative\.dev\/target: '300'/,
    `knative.dev/target: {{ .Values.function.target | quote }}\n        checksum/settings: ${SETTINGS_CHECKSUM}`,
  ],
  // Knative refuses it, unless its operator has allowed it.
  [/^ {6}enableServiceLinks: false\n/, `      enableServiceLinks: false\n${priorityOf('function')}`],
  [/^ {6}timeoutSeconds: 180$/, '      timeoutSeconds: {{ .Values.function.timeoutSeconds }}'],
  variables('function'),
  resources('function'),
  USER_OF_FUNCTION,
]

const DEPLOYMENT: readonly Edit[] = [
  IMAGE,
  [/^ {2}replicas: 2$/, '  replicas: {{ .Values.function.replicas }}'],
  [
    CRITICAL,
    '      priorityClassName: {{ .Values.function.priorityClassName | default "system-cluster-critical" | quote }}\n',
  ],
  [
    /^ {6}labels:\n {8}app\.kubernetes\.io\/name: commitlet-function\n/,
    `      annotations:\n        checksum/settings: ${SETTINGS_CHECKSUM}\n      labels:\n        app.kubernetes.io/name: commitlet-function\n`,
  ],
  [
    /terminationGracePeriodSeconds: 180/,
    'terminationGracePeriodSeconds: {{ .Values.function.timeoutSeconds }}',
  ],
  variables('function'),
  resources('function'),
  USER_OF_FUNCTION,
]

const INJECT: Edit = [
  /^metadata:\n {2}name: commitlet$/,
  'metadata:\n  {{- if eq .Values.certificate.from "cert-manager" }}\n  annotations:\n    cert-manager.io/inject-ca-from: {{ .Release.Namespace }}/commitlet-webhook\n  {{- end }}\n  name: commitlet',
]
const KEEP: Edit = [/^metadata:$/, 'metadata:\n  annotations:\n    helm.sh/resource-policy: keep']
/** A ClusterRole that is no part of commitlet-reader without it: each namespace binds it. */
const AGGREGATED: Edit = [
  /^ {2}labels:\n {4}commitlet\.dev\/aggregate-to-reader: 'true'\n(?=rules:\n {2}- apiGroups: \[''\]\n {4}resources: \[configmaps\])/,
  "  labels:\n    {{- if .Values.reader.allConfigMaps }}\n    commitlet.dev/aggregate-to-reader: 'true'\n    {{- end }}\n",
]

const COPIED = [
  'critical-pods.yaml',
  'priority.yaml',
  'rbac-function.yaml',
  'rbac-users.yaml',
  'rbac-webhook.yaml',
  'status-policy.yaml',
]
const MONITORING = '.Values.monitoring.enabled'

/** The templates that are made from manifests, by their file. */
export function templateFiles(read: ReadText): ReadonlyMap<string, string> {
  const of = (file: string, edits: readonly Edit[] = []): string => templateOf(file, read(file), edits)
  const only = (condition: string, file: string, edits: readonly Edit[] = []): string =>
    onlyIf(condition, of(file, edits))
  return new Map([
    ['accounts.yaml', accounts(read('manifests/accounts.yaml'))],
    ...COPIED.map((file) => [file, of(`manifests/${file}`)] as const),
    ['rbac-reader.yaml', of('manifests/rbac-reader.yaml', [AGGREGATED])],
    ['reader-workloads.yaml', only('.Values.reader.workloads', 'manifests/optional/reader-workloads.yaml')],
    ['webhook.yaml', of('manifests/webhook.yaml', WEBHOOK)],
    ['webhook-configuration.yaml', of('manifests/webhook-configuration.yaml', [INJECT])],
    [
      'certificates.yaml',
      only('eq .Values.certificate.from "cert-manager"', 'overlays/cert-manager/certificates.yaml'),
    ],
    ['own-certificate.yaml', only(OWN, 'overlays/own-certificate/rights.yaml')],
    ['function-knative.yaml', only('eq .Values.function.kind "knative"', 'knative.yaml', KNATIVE)],
    [
      'function-deployment.yaml',
      only('eq .Values.function.kind "deployment"', 'overlays/without-knative/function.yaml', DEPLOYMENT),
    ],
    ['gitcommits.yaml', only('.Values.crds.install', 'manifests/crds/gitcommits.yaml', [KEEP])],
    ['pullrequests.yaml', only('.Values.crds.install', 'manifests/crds/pullrequests.yaml', [KEEP])],
    ['pod-monitors.yaml', only(MONITORING, 'manifests/monitoring/pod-monitors.yaml')],
    ['rules.yaml', only(MONITORING, 'manifests/monitoring/rules.yaml')],
  ])
}

/** Without the namespace, which is that of the release. */
function accounts(text: string): string {
  const [, ...others] = text.split(/^---\n/m)
  return templateOf('accounts.yaml', others.join('---\n'), PULL_SECRETS)
}
