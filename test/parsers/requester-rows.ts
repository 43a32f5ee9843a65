import { createSecretKey } from 'node:crypto'
import { sameJSON } from '../../functions/domain/json-value.ts'
import { canonicalJSON } from '../../functions/domain/requester/canonical-json.ts'
import { requesterOf } from '../../functions/domain/requester/requester.ts'
import { displayName, readUserInfo } from '../../functions/domain/requester/user-info.ts'
import { objectOf, textRow } from './row.ts'
import type { ParserRow } from './row.ts'

const KIBI = 1024
const MEBI = 1024 * KIBI

/** What says who asked, and for what. */
export const REQUESTER_ROWS: readonly ParserRow[] = [
  {
    parser: 'specs that are compared',
    largest: 50_000,
    unit: 'fields',
    shapes: {
      fields: (size) => {
        const [one, other] = [objectOf(size), objectOf(size)]
        return () => sameJSON(one, other)
      },
      lists: (size) => {
        const [one, other] = [1, 2].map(() => Array.from({ length: size / 2 }, (_, i) => [i]))
        return () => sameJSON(one, other)
      },
    },
  },
  {
    parser: 'specs that are signed',
    largest: 10_000,
    unit: 'fields',
    shapes: {
      fields: (size) => {
        const one = objectOf(size)
        return () => canonicalJSON(one)
      },
      lists: (size) => {
        const one = Array.from({ length: size / 2 }, (_, i) => [i])
        return () => canonicalJSON(one)
      },
    },
  },
  textRow({
    parser: 'name of a user',
    largest: 2 * MEBI,
    read: (username) => displayName(readUserInfo({ username })?.username ?? ''),
    texts: { letters: ['', 'a', ''], faces: ['', '😀', ''], controls: ['', '\u202e', ''] },
  }),
  textRow({
    parser: 'stamp',
    largest: 256 * KIBI,
    read: (text) =>
      requesterOf(
        {
          apiVersion: 'commitlet.dev/v1',
          kind: 'GitCommit',
          metadata: {
            name: 'a',
            namespace: 'b',
            uid: 'c',
            generation: 1,
            resourceVersion: '1',
            annotations: {
              'commitlet.dev/requested-by': 'a',
              'commitlet.dev/requester': text,
              'commitlet.dev/requester-signature': 'f'.repeat(64),
            },
          },
          spec: {},
        } as never,
        {
          key: createSecretKey(Buffer.alloc(32, 1)),
          delegation: { appliers: [], account: 'commitlet' },
          now: new Date(0),
        },
      ),
    texts: {
      groups: ['{"username":"a","groups":["', '","', '"]}'],
      lists: ['', '[', ''],
      name: ['{"username":"', 'a', '"}'],
    },
  }),
]
