import { editText, YAML_AT_ONCE } from '../../functions/domain/edit/edit-text.ts'
import { EDIT_LIMIT } from '../../functions/domain/edit/refusal.ts'
import { parseFieldPath } from '../../functions/domain/field-path/field-path.ts'
import { textRow } from './row.ts'
import type { ParserRow } from './row.ts'

const SET = [{ field: parseFieldPath('.zz'), value: 'x' }]

/** What is read to set fields of a file. */
export const EDIT_ROWS: readonly ParserRow[] = [
  textRow({
    parser: 'path of a field',
    largest: 1_024,
    read: parseFieldPath,
    texts: {
      names: ['', '.a', ''],
      'one name': ['.', 'a', ''],
      brackets: ['.a', '[', ''],
      'a filter': ['.a[?(', '@.b', ')]'],
      'keys of a filter': ['.a[?(@', '.b', '==1)]'],
      'an open text': ['.a["', '\\"', ''],
      'open single quotes': [".a['", "\\'", ''],
      spaces: ['.a[?(@.b==', ' ', '1)]'],
      'a long number': ['.a[?(@.b==', '1', ')]'],
      'an open slice': ['.a[', '1', ''],
    },
  }),
  textRow({
    parser: 'YAML file whose fields are set',
    largest: YAML_AT_ONCE,
    read: (text) => editText(Buffer.from(text), { filePath: 'a.yaml', set: SET }),
    texts: {
      fields: ['a: 1\n', 'b:\n- c: "d" # e\n  f: 1\n', ''],
      items: ['a:\n', '- b\n', ''],
      'nested items': ['a:\n', '- ', 'b'],
      brackets: ['a: ', '[', ''],
      'items in brackets': ['a: [', '1,', '1]\n'],
      'braces in brackets': ['a: [', '{b: 1},', '1]\n'],
      commas: ['a: [', ',', ']\n'],
      questions: ['a: {', '? ', '}\n'],
      'texts in a row': ['a: ', "'' ", ''],
      'empty lines': ['a:\n', '\n', 'b: 1\n'],
      comments: ['a:\n', '# c\n', 'b: 1\n'],
      'comments between items': ['a:\n', ' - 1\n # c\n', ''],
      'literals with empty lines': ['a:\n', '- |\n\n\n\n', ''],
      'white space after a literal': ['a: |\n b\n', '   \n', ''],
      anchors: ['a:\n- &b 1\n', '- *b\n', ''],
      'anchors in a row': ['a: ', '&b ', 'c\n'],
      tags: ['a: ', '!b ', 'c\n'],
      documents: ['a: 1\n', '---\nb: 1\n', ''],
      'empty documents': ['a: 1\n', '---\n', ''],
      directives: ['', '%A b\n', ''],
      'explicit keys': ['', '? a\n', ''],
      'folded lines': ['a: >\n', '  b\n', ''],
      'lines of a plain text': ['a: ', 'b\n  ', '\n'],
      escapes: ['a: "', '\\n', '"\n'],
      spaces: ['a: b', ' ', 'c\n'],
      'spaces before a line end': ['a: "b', ' ', '\n  c"\n'],
    },
  }),
  textRow({
    parser: 'JSON file whose fields are set',
    largest: EDIT_LIMIT,
    read: (text) => editText(Buffer.from(text), { filePath: 'a.json', set: SET }),
    texts: {
      letters: ['{"a":"', 'b', '"}'],
      escapes: ['{"a":"', '\\n', '"}'],
      numbers: ['{"a":[', '1234567890123456789,', '1]}'],
      'small numbers': ['{"a":[', '1,', '1]}'],
      objects: ['{"a":[', '{"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa":1},', '1]}'],
      brackets: ['', '[', ''],
      lines: ['{"a":[', '\n1000000000000000000000,', '1]}'],
      spaces: ['{"a":', ' ', '1}'],
      'an open text': ['{"a":"', '\\\\', ''],
      'an open text of letters': ['{"a":"', 'b', '1]}'],
    },
  }),
]
