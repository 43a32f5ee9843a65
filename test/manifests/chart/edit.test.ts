import t from 'tap'
import { onlyIf, templateOf } from '../../../manifests/chart/edit.ts'

const LABELS = '  labels:\n    {{- include "commitlet.labels" . | nindent 4 }}\n'

t.test('the namespace and the labels are those of the release', async (t) => {
  t.equal(
    templateOf('a.yaml', 'kind: A\nmetadata:\n  namespace: commitlet-system\n  name: a\n'),
    `kind: A\nmetadata:\n${LABELS}  namespace: {{ .Release.Namespace }}\n  name: a\n`,
  )
})

t.test('labels of its own stay, and what is inside of an object is left alone', async (t) => {
  const pod =
    'spec:\n  template:\n    metadata:\n      labels:\n        app.kubernetes.io/part-of: commitlet\n'
  t.equal(
    templateOf(
      'a.yaml',
      `metadata:\n  name: a\n  labels:\n    app.kubernetes.io/part-of: commitlet\n    b: c\n${pod}`,
    ),
    `metadata:\n  name: a\n${LABELS}    b: c\n${pod}`,
  )
})

t.test('each document is a template, and braces of a manifest stay what they are', async (t) => {
  const template = templateOf(
    'a.yaml',
    'metadata:\n  name: a\n---\nmetadata:\n  name: b\ntext: "{{ $value }}"\n',
  )
  t.equal(template.match(/commitlet\.labels/g)?.length, 2)
  t.match(template, 'text: "{{ "{{" }} $value }}"')
})

t.test('an edit that finds nothing is an error that names the file', async (t) => {
  t.match(templateOf('a.yaml', 'a: 1\n', [[/^a: 1$/, 'a: {{ .Values.a }}']]), 'a: {{ .Values.a }}\n')
  t.throws(() => templateOf('a.yaml', 'a: 1\n', [['a: 2', 'a: 3']]), {
    message: /a\.yaml has nothing like a: 2/,
  })
})

t.test('a template that is conditional', async (t) => {
  t.equal(onlyIf('.Values.a', 'a: 1\n'), '{{- if .Values.a }}\na: 1\n{{- end }}\n')
})
