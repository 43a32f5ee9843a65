import { createHash } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import t from 'tap'
import { Failure } from '../../../functions/domain/failure.ts'
import type { GitObject } from '../../../functions/git/objects/object.ts'
import { readPack } from '../../../functions/git/objects/pack-reader.ts'
import {
  base,
  baseId,
  BLOB,
  delta,
  entry,
  head,
  OFS,
  onBase,
  options,
  packOf,
  REF,
  sealed,
} from './pack-bytes.ts'

function ofBase(instructions: readonly number[], to: number): Buffer {
  return onBase(delta(base.length, to, instructions))
}

const good = packOf([
  head,
  ofBase([0x90, 5, 2, 0x41, 0x42], 7),
  entry(REF, delta(base.length, 3, [0x91, 4, 3]), { base: baseId }),
  entry(1, Buffer.from('tree')),
])

t.test('the pack of this test is one', async (t) => {
  const bodies = (await readPack(good, options())).map(({ body }) => body.toString())
  t.same(bodies, [base.toString(), 'a basAB', 'se ', 'tree'])
})

const broken = {
  'no bytes': Buffer.alloc(0),
  'another signature': sealed(Buffer.from('PUCK\0\0\0\x02\0\0\0\0')),
  'version 3': sealed(Buffer.from('PACK\0\0\0\x03\0\0\0\0')),
  'no trailer': Buffer.from('PACK\0\0\0\x02\0\0\0\0'),
  'fewer objects than it says': packOf([head], 2),
  'more objects than it says': packOf([head, head], 1),
  'bytes after the objects': packOf([head, Buffer.from('x')], 1),
  'type 0': packOf([entry(0, base)]),
  'type 5': packOf([entry(5, base)]),
  'an object that is shorter than it says': packOf([entry(BLOB, base, { size: base.length + 1 })]),
  'an object that is longer than it says': packOf([entry(BLOB, base, { size: base.length - 1 })]),
  'an object of no bytes that has some': packOf([entry(BLOB, base, { size: 0 })]),
  'a size without an end': packOf([Buffer.alloc(40, 0xff)], 1),
  'a dictionary in zlib': packOf(
    [Buffer.concat([Buffer.from([0x3a]), Buffer.from('78bb00000000', 'hex')])],
    1,
  ),
  'no zlib': packOf([Buffer.concat([Buffer.from([0x3a]), base])], 1),
  'a base at its own place': packOf([entry(OFS, delta(1, 1, [1, 1]), { base: Buffer.from([0]) })]),
  'a base before the pack': packOf([head, entry(OFS, delta(1, 1, [1, 1]), { base: Buffer.from([0x7f]) })]),
  'a base between two objects': packOf([head, entry(OFS, delta(1, 1, [1, 1]), { base: Buffer.from([1]) })]),
  'an offset without an end': packOf([head, Buffer.concat([Buffer.from([0x60]), Buffer.alloc(40, 0xff)])], 2),
  'a base with an unknown name': packOf([entry(REF, delta(1, 1, [1, 1]), { base: Buffer.alloc(20, 1) })]),
  'half a name of a base': packOf([Buffer.concat([Buffer.from([0x70]), Buffer.alloc(10)])], 1),
  'two deltas that wait for names': packOf([
    entry(REF, delta(1, 1, [1, 1]), { base: Buffer.alloc(20, 1) }),
    entry(REF, delta(1, 1, [1, 1]), { base: Buffer.alloc(20, 2) }),
  ]),
  'a delta of no bytes': packOf([head, onBase(Buffer.alloc(0))]),
  'a delta of half a size': packOf([head, onBase(Buffer.from([0xa0]))]),
  'a delta with a size without an end': packOf([head, onBase(Buffer.alloc(20, 0x80))]),
  'a delta for another base': packOf([head, onBase(delta(base.length + 1, 1, [1, 65]))]),
  'an instruction of zero': packOf([head, ofBase([0], 1)]),
  'a copy beyond the base': packOf([head, ofBase([0x91, base.length - 1, 2], 2)]),
  'a copy of 64 KiB beyond the base': packOf([head, ofBase([0x80], 0x10000)]),
  'a copy from far beyond': packOf([head, ofBase([0x9f, 0xff, 0xff, 0xff, 0xff, 1], 1)]),
  'a copy without its bytes': packOf([head, ofBase([0xff, 1], 1)]),
  'an insert without its bytes': packOf([head, ofBase([5, 65, 66], 5)]),
  'a delta that makes too little': packOf([head, ofBase([1, 65], 2)]),
  'a delta that makes too much': packOf([head, ofBase([2, 65, 66], 1)]),
  'a delta that makes nothing of something': packOf([head, ofBase([], 1)]),
}
for (const [title, pack] of Object.entries(broken)) {
  t.test(`a pack with ${title} is broken`, async (t) => {
    await t.rejects(readPack(pack, options()), { reason: 'ProviderUnavailable', message: /cannot be read/ })
  })
}

t.test('a size of many bytes is not taken for a number', async (t) => {
  const header = Buffer.concat([Buffer.from([0xb0]), Buffer.alloc(300, 0x80), Buffer.from([0])])
  const pack = packOf([Buffer.concat([header, deflateSync(Buffer.alloc(0))])], 1)
  await t.rejects(readPack(pack, options()), { message: /size that is not possible/ })
})

t.test('a pack that is cut off anywhere is broken, also with a right checksum', async (t) => {
  const content = good.subarray(0, -20)
  for (let length = 0; length < content.length; length++) {
    const part = content.subarray(0, length)
    for (const pack of [part, sealed(part)])
      await t.rejects(
        readPack(pack, options()),
        { reason: 'ProviderUnavailable', message: /cannot be read/ },
        `${length}`,
      )
  }
})

/** A Failure, or objects that have the names of their bodies. */
async function isHonest(pack: Buffer): Promise<boolean> {
  try {
    return (await readPack(pack, options())).every(isNamed)
  } catch (error) {
    return error instanceof Failure && ['ProviderUnavailable', 'NotSupported'].includes(error.reason)
  }
}

function isNamed({ kind, id, body }: GitObject): boolean {
  return createHash('sha1').update(`${kind} ${body.length}\0`).update(body).digest('hex') === id
}

t.test('any byte that is changed is noticed by the checksum', async (t) => {
  for (let at = 0; at < good.length; at++) {
    const pack = Buffer.from(good)
    pack[at]! ^= 1 << (at % 8)
    await t.rejects(
      readPack(pack, options()),
      { reason: 'ProviderUnavailable', message: /cannot be read/ },
      `${at}`,
    )
  }
})

t.test('any byte that is changed under a right checksum gives a failure or true objects', async (t) => {
  const content = good.subarray(0, -20)
  for (let at = 0; at < content.length; at++)
    for (const bits of [1, 2, 4, 8, 16, 32, 64, 128, 255]) {
      const bytes = Buffer.from(content)
      bytes[at]! ^= bits
      if (!(await isHonest(sealed(bytes)))) t.fail(`byte ${at} ^ ${bits}`)
    }
})
