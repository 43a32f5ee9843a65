import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import t from 'tap'
import { cutDescription } from './cut-description.ts'

const NAME = { type: 'string', description: 'prose', maxLength: 5 }
const OWNER = { name: 'owner', in: 'path', required: true, type: 'string', description: 'prose' }
const DOCUMENT = {
  swagger: '2.0',
  info: { title: 'A host', description: 'prose' },
  tags: [{ name: 'a' }],
  basePath: '/api/v1',
  paths: {
    '/pulls': {
      parameters: [{ $ref: '#/parameters/owner' }],
      get: { summary: 'prose', tags: ['a'], responses: { 200: { description: 'prose' } } },
      post: {
        parameters: [{ name: 'body', in: 'body', schema: { $ref: '#/definitions/a~1b' } }],
        responses: { 404: { $ref: '#/responses/none' } },
      },
      delete: {},
    },
    '/other': { get: {} },
  },
  parameters: { owner: OWNER, unused: OWNER },
  responses: { none: { schema: { $ref: '#/definitions/error' } } },
  definitions: {
    'a/b': {
      type: 'object',
      example: { title: 'prose' },
      required: ['title'],
      properties: { title: NAME, description: NAME, parent: { $ref: '#/definitions/a~1b' } },
    },
    error: { type: 'object', properties: { properties: { description: 'prose', type: 'string' } } },
    unused: {},
  },
}
const BARE_NAME = { type: 'string', maxLength: 5 }
const SOURCE = { document: '', version: '', retrieved: '', licence: '', cut: '' }

t.test('what is asked for stays, with what it refers to, and no prose', async (t) => {
  t.strictSame(cutDescription(DOCUMENT, ['GET /pulls', 'POST /pulls']), {
    'x-commitlet-source': SOURCE,
    swagger: '2.0',
    info: { title: 'A host' },
    basePath: '/api/v1',
    paths: {
      '/pulls': {
        parameters: [{ $ref: '#/parameters/owner' }],
        get: { responses: { 200: {} } },
        post: {
          parameters: [{ name: 'body', in: 'body', schema: { $ref: '#/definitions/a~1b' } }],
          responses: { 404: { $ref: '#/responses/none' } },
        },
      },
    },
    parameters: { owner: { name: 'owner', in: 'path', required: true, type: 'string' } },
    responses: { none: { schema: { $ref: '#/definitions/error' } } },
    definitions: {
      'a/b': {
        type: 'object',
        required: ['title'],
        properties: {
          title: BARE_NAME,
          description: BARE_NAME,
          parent: { $ref: '#/definitions/a~1b' },
        },
      },
      error: { type: 'object', properties: { properties: { type: 'string' } } },
    },
  })
})

t.test('nothing is left where nothing is referred to', async (t) => {
  t.strictSame(cutDescription({ paths: { '/other': { get: {} } } }, ['GET /other']), {
    'x-commitlet-source': SOURCE,
    paths: { '/other': { get: {} } },
  })
})

t.test('an operation or a part that is not there is an error', async (t) => {
  t.throws(() => cutDescription(DOCUMENT, ['PUT /pulls']), { message: 'There is no PUT /pulls.' })
  t.throws(() => cutDescription(DOCUMENT, ['GET /none']), { message: 'There is no GET /none.' })
  const broken = { paths: { '/a': { get: { schema: { $ref: '#/definitions/lost' } } } } }
  t.throws(() => cutDescription(broken, ['GET /a']), { message: 'There is nothing at #/definitions/lost.' })
})

t.test('as a program it reads a file and writes the cut one', async (t) => {
  const folder = t.testdir({ 'published.json': JSON.stringify(DOCUMENT) })
  const program = join(import.meta.dirname, 'cut-description.ts')
  const args = [program, join(folder, 'published.json'), 'GET /other']
  t.match(JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' })), {
    paths: { '/other': { get: {} } },
  })
})
