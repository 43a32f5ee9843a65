import t from 'tap'
import { WrongSetting } from '../../functions/domain/settings.ts'
import { readTraceSettings } from '../../functions/telemetry/trace-settings.ts'

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'https://collector.example.com/otlp/' }
const LOW = `${'f'.repeat(19)}0000000000001`
const HIGH = `${'0'.repeat(19)}fffffffffffff`

function read(env: Readonly<Record<string, string>> = {}) {
  return readTraceSettings({ ...ENDPOINT, ...env }, 'commitlet-test')
}

t.test('the defaults are those of the specification', async (t) => {
  const settings = read()
  t.equal(settings?.endpoint.href, 'https://collector.example.com/otlp/v1/traces')
  t.match(settings, { headers: {}, timeoutMs: 10_000, serviceName: 'commitlet-test' })
  t.strictSame([settings?.sampler(LOW, undefined), settings?.sampler(LOW, false)], [true, false])
})

t.test('every variable has its meaning', async (t) => {
  const settings = read({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
    OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Basic%20YTpi, x-team = shop ,',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
    OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    OTEL_SERVICE_NAME: 'mine',
  })
  t.equal(settings?.endpoint.href, 'http://collector:4318/v1/traces')
  t.strictSame(settings?.headers, { authorization: 'Basic YTpi', 'x-team': 'shop' })
  t.match(settings, { timeoutMs: 500, serviceName: 'mine' })
})

/** Sampler, argument, and what it decides: low and high id without a parent, then with one that is and is not sampled. */
const SAMPLERS: readonly (readonly [string, string, readonly [boolean, boolean, boolean, boolean]])[] = [
  ['always_on', '', [true, true, true, true]],
  ['always_off', '', [false, false, false, false]],
  ['traceidratio', '0.5', [true, false, true, true]],
  ['traceidratio', '', [true, true, true, true]],
  ['traceidratio', '0', [false, false, false, false]],
  ['parentbased_always_on', '', [true, true, true, false]],
  ['parentbased_always_off', '', [false, false, true, false]],
  ['parentbased_traceidratio', '.5', [true, false, true, false]],
]

for (const [name, arg, expected] of SAMPLERS) {
  t.test(`the sampler ${name} ${arg}`, async (t) => {
    const settings = read({ OTEL_TRACES_SAMPLER: name, OTEL_TRACES_SAMPLER_ARG: arg })
    const decide = (id: string, parent?: boolean) => settings?.sampler(id, parent)
    t.strictSame([decide(LOW), decide(HIGH), decide(LOW, true), decide(LOW, false)], expected)
  })
}

t.test('without an endpoint nothing is checked, and neither if it is disabled', async (t) => {
  const wrong = { OTEL_TRACES_SAMPLER: 'jaeger_remote', OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }
  t.equal(readTraceSettings(wrong, 'x'), undefined)
  t.equal(read({ ...wrong, OTEL_SDK_DISABLED: 'TRUE' }), undefined)
})

const WRONG: readonly (readonly [Readonly<Record<string, string>>, RegExp])[] = [
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, /^OTEL_EXPORTER_OTLP_ENDPOINT has to be/],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'nothing' }, /^OTEL_EXPORTER_OTLP_ENDPOINT has to be/],
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://me:s3cr3t@collector' }, /^OTEL_EXPORTER_OTLP_ENDPOINT has to be/],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 's3cr3t' }, /^OTEL_EXPORTER_OTLP_HEADERS has to be/],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'a=s3cr3t%0d%0ax:y' }, /^OTEL_EXPORTER_OTLP_HEADERS has to be/],
  [{ OTEL_EXPORTER_OTLP_HEADERS: 'a=s3cr3t%' }, /^OTEL_EXPORTER_OTLP_HEADERS has to be/],
  [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, /PROTOCOL is "grpc", but has to be http\/json/],
  [{ OTEL_EXPORTER_OTLP_TIMEOUT: '10s' }, /TIMEOUT is "10s", but has to be/],
  [{ OTEL_EXPORTER_OTLP_TIMEOUT: '0' }, /TIMEOUT is "0"/],
  [{ OTEL_TRACES_SAMPLER: 'jaeger_remote' }, /SAMPLER is "jaeger_remote", but has to be one of/],
  [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '1.1' }, /ARG is "1.1"/],
]

for (const [env, sentence] of WRONG) {
  t.test(`stops the start: ${JSON.stringify(env)}`, async (t) => {
    t.throws(() => read(env), { constructor: WrongSetting, message: sentence })
    t.throws(() => read(env), { message: /^(?!.*s3cr3t).*\.$/ })
  })
}
