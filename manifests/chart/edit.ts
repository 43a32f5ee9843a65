/** Replaces `from`, which has to be there, by `to`. */
export type Edit = readonly [from: string | RegExp, to: string]

const NAMESPACE = /commitlet-system/g
/** The labels that Helm and kustomize set, and the manifests do not. */
const LABELS = '{{- include "commitlet.labels" . | nindent 4 }}'

/**
 * A manifest as a template: with the namespace and the labels of the release, and these edits. What was `{{` in it stays so.
 * Throws if an edit finds nothing, so that no change of a manifest can leave the chart behind.
 */
export function templateOf(file: string, text: string, edits: readonly Edit[] = []): string {
  let edited = text.replaceAll('{{', '{{ "{{" }}')
  for (const [from, to] of edits) {
    const next = edited.replaceAll(typeof from === 'string' ? from : new RegExp(from, 'gm'), () => to)
    if (next === edited) throw new Error(`${file} has nothing like ${String(from)}: change manifests/chart.`)
    edited = next
  }
  const documents = edited.replace(NAMESPACE, '{{ .Release.Namespace }}').split(/^---$\n?/m)
  return documents.map(labelled).join('---\n')
}

/** The template where the condition holds, and nothing elsewhere. */
export function onlyIf(condition: string, template: string): string {
  return `{{- if ${condition} }}\n${template}{{- end }}\n`
}

// The first `metadata` of a document is that of the object.
function labelled(document: string): string {
  const own = /^metadata:\n(?: {2}.*\n)*? {2}labels:\n/m
  const part = /^ {4}app\.kubernetes\.io\/part-of: commitlet\n/m
  const [head = ''] = own.exec(document) ?? []
  if (head === '') return document.replace(/^metadata:\n/m, (line) => `${line}  labels:\n    ${LABELS}\n`)
  return document.replace(part, '').replace(head, () => `${head}    ${LABELS}\n`)
}
