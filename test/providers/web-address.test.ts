import t from 'tap'
import { webAddress } from '../../functions/providers/web-address.ts'

const API = 'https://git.example.com/api/v3'
const PLAIN_API = 'http://git.example.com/api/v3'
const WEB = 'https://git.example.com/acme/shop/pull/1'

const SHOWN = [
  [WEB, API],
  ['https://www.example.com:8443/pull/1?a=b#c', API],
  [`https://a/${'x'.repeat(8182)}`, API],
  [WEB, PLAIN_API],
  ['http://git.example.com/acme/shop/pull/1', PLAIN_API],
] as const

/** Shown in the one spelling that every reader reads the same. */
const RESPELLED = [
  ['https://git.example.com/größe', 'https://git.example.com/gr%C3%B6%C3%9Fe'],
  ['HTTPS://Größe.example.com/1', 'https://xn--gre-6ka8i.example.com/1'],
  ['https://git.example.com\\1', 'https://git.example.com/1'],
  ['https://git.example.com:443/a/../1', 'https://git.example.com/1'],
] as const

const NOT_SHOWN: readonly (readonly [unknown, string])[] = [
  [undefined, API],
  [null, API],
  [7, API],
  ['', API],
  [{ href: WEB }, API],
  ['http://git.example.com/acme/shop/pull/1', API],
  ['ftp://git.example.com/1', API],
  ['ftp://git.example.com/1', PLAIN_API],
  ['javascript:alert(1)', API],
  ['javascript:alert(1)', PLAIN_API],
  ['/acme/shop/pull/1', API],
  ['https://dev@git.example.com/1', API],
  ['https://:word@git.example.com/1', API],
  [`${WEB}\n`, API],
  [` ${WEB}`, API],
  [`${WEB} 2`, API],
  [`${WEB}\u00a0`, API],
  [`${WEB}\u202e`, API],
  [`${WEB}\u200b`, API],
  [`${WEB}\ud800`, API],
  [`https://a/${'x'.repeat(8183)}`, API],
  [`https://a/${'ö'.repeat(4000)}`, API],
  ['https:git.example.com/1', API],
  ['https:/git.example.com/1', API],
  ['https:///git.example.com/1', API],
  ['https:\\\\git.example.com/1', API],
]

for (const [value, baseURL] of SHOWN) {
  t.test(`${value.slice(0, 60)} is shown where the API is ${baseURL}`, async (t) => {
    t.equal(webAddress(value, baseURL), value)
  })
}

for (const [value, shown] of RESPELLED) {
  t.test(`${value} is shown as ${shown}`, async (t) => {
    t.equal(webAddress(value, API), shown)
  })
}

for (const [value, baseURL] of NOT_SHOWN) {
  t.test(`${JSON.stringify([value]).slice(1, 60)} is not shown where the API is ${baseURL}`, async (t) => {
    t.equal(webAddress(value, baseURL), undefined)
  })
}
