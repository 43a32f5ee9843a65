/** An event as the webhook sends it. */
export const EVENT = {
  apiVersion: 'commitlet.dev/v1',
  kind: 'GitCommit',
  namespace: 'team',
  name: 'shop',
  uid: 'u-1',
  generation: 1,
}

/** The request for it, up to the headers about its length. */
export const EVENT_HEAD = [
  'POST / HTTP/1.1',
  'host: x',
  'content-type: application/json',
  'ce-specversion: 1.0',
  'ce-id: 1',
  'ce-source: /x',
  'ce-type: dev.commitlet.gitcommit.applied',
].join('\r\n')
