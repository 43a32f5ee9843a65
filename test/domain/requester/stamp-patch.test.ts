import t from 'tap'
import { stampPatch } from '../../../functions/domain/requester/stamp-patch.ts'
import type { PatchOperation } from '../../../functions/domain/requester/stamp-patch.ts'

const BY = 'commitlet.dev/requested-by'
const REQUESTER = 'commitlet.dev/requester'
const SIGNATURE = 'commitlet.dev/requester-signature'
const JSON_TEXT = '{"username":"developer"}'
const GENERATION = 'commitlet.dev/request-generation'
const STAMP = {
  ...{ [BY]: 'developer', [REQUESTER]: JSON_TEXT },
  ...{ [SIGNATURE]: undefined, [GENERATION]: undefined },
}
const SIGNED = { ...STAMP, [SIGNATURE]: 'f'.repeat(64) }
const NONE = { ...STAMP, [BY]: undefined, [REQUESTER]: undefined }
const PATH = '/metadata/annotations/commitlet.dev~1'
const UNSIGNED = { [BY]: 'developer', [REQUESTER]: JSON_TEXT }
const WHOLE: PatchOperation[] = [{ op: 'add', path: '/metadata/annotations', value: UNSIGNED }]

for (const [title, sent, stamp, patch] of [
  ['no annotations at all get a map', undefined, STAMP, WHOLE],
  ['annotations of null get a map', null, STAMP, WHOLE],
  ['no stamp for no annotations', undefined, NONE, []],
  ['no stamp for other annotations', { a: 'b' }, NONE, []],
  ['the right stamp is left alone', { ...UNSIGNED, a: 'b' }, STAMP, []],
  [
    'empty text is text',
    { [BY]: 'forged' },
    { ...NONE, [BY]: '' },
    [{ op: 'add', path: `${PATH}requested-by`, value: '' }],
  ],
  ['the right signature is left alone', { ...UNSIGNED, [SIGNATURE]: 'f'.repeat(64) }, SIGNED, []],
  [
    'a foreign stamp without a wanted one is removed',
    { [BY]: 'forged', [SIGNATURE]: null },
    NONE,
    [
      { op: 'remove', path: `${PATH}requested-by` },
      { op: 'remove', path: `${PATH}requester-signature` },
    ],
  ],
  [
    'a foreign stamp is replaced, and a foreign signature goes',
    { [BY]: 'forged', [SIGNATURE]: 'forged' },
    STAMP,
    [
      { op: 'add', path: `${PATH}requested-by`, value: 'developer' },
      { op: 'add', path: `${PATH}requester`, value: JSON_TEXT },
      { op: 'remove', path: `${PATH}requester-signature` },
    ],
  ],
  [
    'a foreign signature alone is replaced',
    { ...UNSIGNED, [SIGNATURE]: 'forged' },
    SIGNED,
    [{ op: 'add', path: `${PATH}requester-signature`, value: 'f'.repeat(64) }],
  ],
] as const) {
  t.test(title, async (t) => t.strictSame(stampPatch(sent, stamp), patch))
}

t.test('names become JSON pointers: a slash and a tilde are escaped', async (t) => {
  // A key of the three holds no tilde: one that does shows the order of both escapes.
  const stamp = { ...NONE, 'a~1/b': 'x' }
  t.strictSame(stampPatch({}, stamp), [{ op: 'add', path: '/metadata/annotations/a~01~1b', value: 'x' }])
})
