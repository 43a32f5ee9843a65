import t from 'tap'
import { keepWords } from '../../../functions/git/ssh-worker/kept-words.ts'
import { until } from '../stage.ts'

const LINE = 'Préparation: 100 % ✓\n'

t.test('words are told once each, the first at once, and those of a moment together', async (t) => {
  const told: string[] = []
  const words = keepWords((more) => told.push(more))
  for (const byte of Buffer.from(LINE)) words.add(Buffer.from([byte]))
  t.same(told, ['P'])
  await until('the others', async () => told.length > 1)
  t.same(told, ['P', LINE.slice(1)])
  words.end()
})

t.test('words that must come before an answer are told at once', async (t) => {
  const told: string[] = []
  const words = keepWords((more) => told.push(more))
  for (const line of ['This repository ', 'has moved']) words.add(Buffer.from(line))
  words.tell()
  words.tell()
  t.same(told, ['This repository ', 'has moved'])
  words.end()
})

t.test('of words without an end the first 8 KiB are told and kept', async (t) => {
  const told: string[] = []
  const words = keepWords((more) => told.push(more))
  for (let byte = 0; byte < 20_000; byte += 1) {
    words.add(Buffer.from('x'))
    words.tell()
  }
  t.equal(told.join(''), 'x'.repeat(8_192))
  t.equal(words.text(), 'x'.repeat(8_192))
  words.end()
})
