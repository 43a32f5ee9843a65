import { parseSelected } from '../../functions/cluster/calls/json-selection.ts'
import { OF_RESOURCE, OF_TABLE } from '../../functions/cluster/calls/selections.ts'
import { renderManifest } from '../../functions/domain/manifest/manifest.ts'
import { textRow } from './row.ts'
import type { ParserRow } from './row.ts'

const MEBI = 1024 * 1024
/** The largest object that etcd stores by default. */
const ETCD = 1.5 * MEBI
const OBJECT = { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', namespace: 'b' }

const manifest = (data: string) =>
  `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a","namespace":"b"},"data":${data}}`

const MANAGED =
  '{"manager":"a","operation":"Apply","apiVersion":"a/v1","time":"2026-01-01T00:00:00Z","fieldsType":"FieldsV1","fieldsV1":{"f:a":{}}},'

/** Random texts are no JSON. */
function orNoJSON(read: () => unknown): unknown {
  try {
    return read()
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

/** The objects that a commit holds, and the resources that ask for it. */
export const OBJECT_ROWS: readonly ParserRow[] = [
  textRow({
    parser: 'GitCommit of the API server',
    largest: ETCD,
    read: (text) => orNoJSON(() => parseSelected(text, OF_RESOURCE)),
    texts: {
      labels: ['{"metadata":{"labels":{', '"a":"",', '"a":""}}}'],
      annotations: ['{"metadata":{"annotations":{', '"a":"",', '"a":""}}}'],
      finalizers: ['{"metadata":{"finalizers":[', '"a/b",', '"a/b"]}}'],
      owners: ['{"metadata":{"ownerReferences":[', '{},', '{}]}}'],
      'managed fields': ['{"metadata":{"managedFields":[', MANAGED, '{}]}}'],
    },
  }),
  textRow({
    parser: 'page of a list',
    largest: 4 * MEBI,
    read: (text) => orNoJSON(() => parseSelected(text, OF_TABLE)),
    texts: {
      labels: ['{"rows":[{"object":{"metadata":{"labels":{', '"a":"",', '"a":""}}}}]}'],
      annotations: ['{"rows":[{"object":{"metadata":{"annotations":{', '"a":"",', '"a":""}}}}]}'],
    },
  }),
  textRow({
    parser: 'object of the API server, as YAML',
    largest: ETCD,
    read: (text) => renderManifest(manifest(`{"a":${text}}`), OBJECT, 'a.yaml'),
    texts: {
      letters: ['"', 'a', '"'],
      digits: ['"', '1', 'x"'],
      times: ['"', '1:', 'x"'],
      underscores: ['"', '_', '1"'],
      'signs and digits': ['"', '-1,', '1"'],
      'broken off': ['"', '\\', ''],
      numbers: ['[', '1234567890123,', '1]'],
      lists: ['', '[', ''],
      'long numbers': ['', '1', ''],
      objects: ['[', '{"aaaaaaaaaaaaaaaaaa":1},', '1]'],
      strings: ['[', '"0000:00:0001",', '1]'],
    },
  }),
  // Escapes are not stored: an object of 1.5 MiB takes as many as six times the characters.
  textRow({
    parser: 'object of the API server with escapes, as YAML',
    largest: 6 * ETCD,
    read: (text) => renderManifest(manifest(`{"a":${text}}`), OBJECT, 'a.yaml'),
    texts: { signs: ['"', '\\u003c', '"'], 'control characters': ['"', '\\u0000', '"'] },
  }),
  textRow({
    parser: 'object of the API server with lines, as YAML',
    largest: 2 * ETCD,
    read: (text) => renderManifest(manifest(`{"a":${text}}`), OBJECT, 'a.yaml'),
    texts: {
      'empty lines': ['"', '\\n', 'a"'],
      'short lines': ['"', 'aa\\n', '"'],
      'blank lines': ['"', '  \\n', 'a"'],
    },
  }),
  textRow({
    parser: 'object of the API server, as JSON',
    largest: 6 * ETCD,
    read: (text) => renderManifest(manifest(`{"a":${text}}`), OBJECT, 'a.json'),
    texts: { signs: ['"', '\\u003c', '"'], 'control characters': ['"', '\\u0000', '"'] },
  }),
]
