import {
  REQUEST_GENERATION,
  REQUESTED_AT,
  REQUESTED_BY,
  REQUESTER,
  REQUESTER_SIGNATURE,
} from '../../domain/resource/api-names.ts'
import type { Selection } from './json-selection.ts'

/**
 * What is read of a resource that the API server sends. Of its metadata only what has a meaning here: anybody who may change
 * the resource may write more than a hundred thousand labels or annotations, and no admission is asked about these.
 */
export const OF_RESOURCE: Selection = {
  members: {
    apiVersion: 'whole',
    kind: 'whole',
    metadata: {
      members: {
        name: 'whole',
        namespace: 'whole',
        uid: 'whole',
        generation: 'whole',
        resourceVersion: 'whole',
        creationTimestamp: 'whole',
        deletionTimestamp: 'whole',
        annotations: {
          members: {
            [REQUESTED_AT]: 'whole',
            [REQUESTED_BY]: 'whole',
            [REQUESTER]: 'whole',
            [REQUESTER_SIGNATURE]: 'whole',
            [REQUEST_GENERATION]: 'whole',
          },
        },
        managedFields: { elements: { members: { subresource: 'whole', time: 'whole' } } },
      },
    },
    spec: 'whole',
    status: 'whole',
  },
}

const OF_ROW: Selection = {
  members: {
    name: 'whole',
    namespace: 'whole',
    uid: 'whole',
    generation: 'whole',
    deletionTimestamp: 'whole',
    annotations: { members: { [REQUESTED_AT]: 'whole' } },
  },
}
/** What is read of a Table: a user may write very many labels, and of each only the name would be of use. */
export const OF_TABLE: Selection = {
  members: {
    metadata: { members: { continue: 'whole', resourceVersion: 'whole' } },
    columnDefinitions: { elements: { members: { name: 'whole' } } },
    rows: {
      elements: { measured: { members: { cells: 'whole', object: { members: { metadata: OF_ROW } } } } },
    },
  },
}

/** What is read of the kinds of a group. */
export const OF_KINDS: Selection = {
  members: {
    resources: {
      elements: {
        members: { name: 'whole', kind: 'whole', namespaced: 'whole', group: 'whole', version: 'whole' },
      },
    },
  },
}

/** What tells one state of an object from another. */
export const OF_VERSION: Selection = {
  members: { metadata: { members: { uid: 'whole', resourceVersion: 'whole' } } },
}
