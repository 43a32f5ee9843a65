import t from 'tap'
import type { ApiAnswer, ApiCall } from '../../functions/cluster/api-server.ts'
import { endpointsOf } from '../../functions/cluster/endpoints.ts'
import type { ReadEndpoints } from '../../functions/cluster/endpoints.ts'
import { Failure } from '../../functions/domain/failure.ts'

const SLICES = {
  items: [
    {
      addressType: 'IPv4',
      endpoints: [{ addresses: ['192.0.2.1'] }, { addresses: ['192.0.2.2', 7] }, {}],
      ports: [{ port: 6443 }, { port: 8443 }, { name: 'all' }],
    },
    { addressType: 'IPv6', endpoints: [{ addresses: ['2001:db8::1'] }], ports: [{ port: 6443 }] },
    { addressType: 'FQDN', endpoints: [{ addresses: ['api.example.com'] }], ports: [{ port: 443 }] },
    { endpoints: null, ports: null },
    null,
  ],
}
const KNOWN = ['192.0.2.1:6443', '192.0.2.1:8443', '192.0.2.2:6443', '192.0.2.2:8443', '2001:db8::1:6443']

/** An API server with these answers, one after the other, and a clock that tests set. */
function stage(...answers: readonly (object | number | Failure)[]) {
  const left = [...answers]
  const [calls, told]: [ApiCall[], string[]] = [[], []]
  const clock = { ms: 0 }
  async function server(call: ApiCall): Promise<ApiAnswer> {
    calls.push(call)
    const next = left.shift() ?? 500
    if (next instanceof Failure) throw next
    return typeof next === 'number' ? { status: next, text: '' } : { status: 200, text: JSON.stringify(next) }
  }
  const readEndpoints = endpointsOf(
    server,
    ({ reason, message }) => told.push(`${reason} ${message}`),
    () => clock.ms,
  )
  return { readEndpoints, calls, told, clock }
}

async function known(readEndpoints: ReadEndpoints): Promise<readonly string[]> {
  return (await readEndpoints()).map(({ host, port }) => `${host}:${port}`)
}

t.test('the addresses and ports of all slices of the Service are read', async (t) => {
  const { readEndpoints, calls, told } = stage(SLICES)
  t.strictSame(await known(readEndpoints), KNOWN)
  t.match(calls, [
    { method: 'GET', path: /namespaces\/default\/endpointslices\?labelSelector=.*kubernetes&/ },
  ])
  t.strictSame(told, [])
})

t.test('they are read again after a minute while the clock of the machine is set back', async (t) => {
  let calls = 0
  async function server(): Promise<ApiAnswer> {
    calls += 1
    return { status: 200, text: JSON.stringify(SLICES) }
  }
  const readEndpoints = endpointsOf(server, (failure) => t.fail(failure.message))
  await readEndpoints()
  const [anHourAgo, later] = [Date.now() - 3_600_000, performance.now() + 60_001]
  t.intercept(Date, 'now', { value: () => anHourAgo })
  t.intercept(performance, 'now', { value: () => later })
  await readEndpoints()
  t.equal(calls, 2)
})

t.test('they are read once a minute, whoever asks', async (t) => {
  const { readEndpoints, calls, clock } = stage(SLICES, { items: [SLICES.items[1]] })
  await Promise.all([readEndpoints(), readEndpoints()])
  clock.ms = 59_999
  t.strictSame(await known(readEndpoints), KNOWN)
  t.equal(calls.length, 1)
  clock.ms = 60_000
  t.strictSame(await known(readEndpoints), KNOWN, 'nobody waits for the second answer')
  t.strictSame(await known(readEndpoints), ['2001:db8::1:6443'])
  t.equal(calls.length, 2)
})

t.test('without the right, nothing is known, it is said once, and asked again', async (t) => {
  const { readEndpoints, calls, told, clock } = stage(403, 403, SLICES)
  t.strictSame(await known(readEndpoints), [])
  t.match(told, [/^ReferenceForbidden .*EndpointSlices of the Service default\/kubernetes/])
  clock.ms = 10_000
  await readEndpoints()
  await readEndpoints()
  t.equal(told.length, 1)
  clock.ms = 20_000
  await readEndpoints()
  t.strictSame(await known(readEndpoints), KNOWN)
  t.equal(calls.length, 3)
})

t.test('what was known stays in use while the API server does not answer', async (t) => {
  const { readEndpoints, told, clock } = stage(SLICES, new Failure('Timeout', 'It did not answer.'), 500, {
    items: 'none',
  })
  await readEndpoints()
  for (const ms of [60_000, 70_000]) {
    clock.ms = ms
    await readEndpoints()
    t.strictSame(await known(readEndpoints), KNOWN)
  }
  t.match(told, [/^Timeout /, /^ProviderUnavailable /])
  clock.ms = 80_000
  await readEndpoints()
  t.strictSame(await known(readEndpoints), [], 'an answer without any replaces them')
})
