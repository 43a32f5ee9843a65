import t from 'tap'
import { inServedOrder } from '../../../cli/input/served-order.ts'
import { documentsIn, jsonOf } from '../../../cli/input/yaml-documents.ts'

const served = (yaml: string, namespace?: string): readonly string[] =>
  documentsIn(yaml, 'x').map((tree) => jsonOf(inServedOrder(tree, namespace)))

t.test('as an API server sends it', async (t) => {
  const cases: readonly (readonly [string, string])[] = [
    [
      'data: {b: x1, a: y1}\nmetadata: {labels: {zz: "1", yy: "2"}, name: nn}\nkind: ConfigMap\napiVersion: v1',
      '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"nn","namespace":"team","labels":{"yy":"2","zz":"1"}},"data":{"a":"y1","b":"x1"}}',
    ],
    [
      'apiVersion: example.com/v1\nkind: X\nmetadata: {name: nn}\nspec: {b: [{d: 1, c: 2}], a: 1, "10": 1}',
      '{"apiVersion":"example.com/v1","kind":"X","metadata":{"name":"nn","namespace":"team"},"spec":{"10":1,"a":1,"b":[{"c":2,"d":1}]}}',
    ],
    [
      'apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: nn, namespace: own}\nspec: {template: {}, replicas: 1}',
      '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"nn","namespace":"own"},"spec":{"template":{},"replicas":1}}',
    ],
    ['apiVersion: 1\nkind: [x]', '{"apiVersion":1,"kind":["x"]}'],
    ['[1]', '[1]'],
  ]
  for (const [yaml, json] of cases) t.same(served(yaml, 'team'), [json])
  t.same(served('kind: Namespace\napiVersion: v1\nmetadata: {name: nn}'), [
    '{"kind":"Namespace","apiVersion":"v1","metadata":{"name":"nn"}}',
  ])
})
