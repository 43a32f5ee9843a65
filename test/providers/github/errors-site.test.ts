import t from 'tap'
import { isOfGitHub, siteOf } from '../../../functions/providers/github/errors.ts'

for (const { baseURL, own, site } of [
  { baseURL: 'https://api.github.com', own: true, site: 'github.com' },
  { baseURL: 'https://api.acme.ghe.com', own: true, site: 'acme.ghe.com' },
  { baseURL: 'https://git.example.com/api/v3', own: false, site: 'git.example.com' },
  { baseURL: 'https://api.example.com:8443/api/v3', own: false, site: 'api.example.com:8443' },
  { baseURL: 'https://api.github.com.example.com/api/v3', own: false, site: 'api.github.com.example.com' },
]) {
  t.test(`the web site of ${baseURL} is ${site}`, async (t) => {
    t.equal(isOfGitHub(baseURL), own)
    t.equal(siteOf(baseURL), site)
  })
}
