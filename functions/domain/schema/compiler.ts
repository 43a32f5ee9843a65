import { Ajv, _ } from 'ajv'
import type { Code, CodeOptions, Name } from 'ajv'
import { isLonger } from './bounds.ts'

/** ajv for our schemas. `code`: what else it keeps of the code that it makes, such as its text. */
export function compiler(code: CodeOptions = {}): Ajv {
  const ajv = new Ajv({
    allErrors: true,
    verbose: true,
    ownProperties: true,
    strictTypes: false,
    // A test checks our schemas against the meta-schema; doing it here would take a third of the compile time.
    meta: false,
    validateSchema: false,
    code,
  })
  ajv.addVocabulary([
    'expects',
    'oneRequired',
    'x-kubernetes-preserve-unknown-fields',
    'x-kubernetes-map-type',
    'x-kubernetes-list-type',
    'x-kubernetes-list-map-keys',
    'x-kubernetes-validations',
  ])
  // ajv's own keywords always read the whole string.
  replaceKeyword(ajv, 'minLength', ({ longer, data, limit }) => _`!${longer}(${data}, ${limit - 1})`)
  replaceKeyword(ajv, 'maxLength', ({ longer, data, limit }) => _`${longer}(${data}, ${limit})`)
  ajv.addFormat('int32', true).addFormat('int64', true)
  ajv.addFormat('date-time', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/)
  return ajv
}

/** A limit of a text's length, and the names in the code of the text and of `isLonger`. */
interface Limited {
  readonly limit: number
  readonly data: Name
  readonly longer: Name
}

/** `fails` makes the condition of the error. A build finds `isLonger` by its module. */
function replaceKeyword(ajv: Ajv, keyword: string, fails: (limited: Limited) => Code): void {
  ajv.removeKeyword(keyword).addKeyword({
    keyword,
    type: 'string',
    schemaType: 'number',
    code(context) {
      const source = _`require("./bounds.ts").isLonger`
      const longer = context.gen.scopeValue('func', { ref: isLonger, code: source })
      context.fail(fails({ limit: Number(context.schema), data: context.data, longer }))
    },
  })
}
