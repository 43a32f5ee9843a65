import t from 'tap'
import {
  isEmpty,
  isMapping,
  isSequence,
  type JSONNode,
} from '../../../functions/domain/manifest/json-node.ts'

t.test('objects, arrays and the rest are distinguished', (t) => {
  const cases: readonly (readonly [JSONNode, string])[] = [
    [new Map([['a', null]]), 'mapping'],
    [new Map(), 'mapping empty'],
    [['a'], 'sequence'],
    [[], 'sequence empty'],
    [{ digits: '1' }, ''],
    ['', ''],
    [false, ''],
    [null, ''],
  ]
  for (const [node, kinds] of cases) {
    const found = [isMapping(node) && 'mapping', isSequence(node) && 'sequence', isEmpty(node) && 'empty']
    t.equal(found.filter(Boolean).join(' '), kinds, kinds === '' ? 'a scalar' : kinds)
  }
  t.end()
})
