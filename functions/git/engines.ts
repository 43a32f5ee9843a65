import { FUNCTION_METRICS } from '../domain/telemetry/function-metrics.ts'
import { NO_METER, type Meter } from '../domain/telemetry/meter.ts'
import type { Transferred } from '../http/connection.ts'
import { openDirectEngine } from './direct/direct-engine.ts'
import { chooseEngine, type HandOver } from './engine-choice.ts'
import { measureEngine } from './measured-engine.ts'
import type { Engine } from './remote.ts'
import { DEADLINE_SECONDS, openBinaryEngine, type BinarySettings } from './session/binary-engine.ts'
import type { SSHSessions } from './ssh/sessions.ts'

/** The operator's settings for the engines. */
export interface EngineSettings extends BinarySettings {
  /** `direct`: the direct engine is tried first. Default: only the git binary is used. */
  readonly engine?: 'binary' | 'direct'
  /** Told of each session that the direct engine has handed to the git binary; see chooseEngine. */
  readonly handedOver?: (handOver: HandOver) => void
  /** Default: nothing is measured. */
  readonly meter?: Meter
}

/** The engines of these settings as one, measured; the caller closes the sessions at SSH servers. */
export function openEngines(settings: EngineSettings, ssh: SSHSessions): Engine {
  const { meter = NO_METER } = settings
  const binary = measureEngine(openBinaryEngine(settings, ssh), 'binary', meter)
  if (settings.engine !== 'direct') return binary
  const { trust, fetchLimitMiB, deadlineSeconds = DEADLINE_SECONDS, handedOver } = settings
  const transferred = ({ sent, received }: Transferred): void => {
    meter.record(FUNCTION_METRICS.gitBytes, sent, { direction: 'sent' })
    meter.record(FUNCTION_METRICS.gitBytes, received, { direction: 'received' })
  }
  const direct = openDirectEngine({ trust, ssh, fetchLimitMiB, deadlineSeconds, transferred })
  return chooseEngine({ direct: measureEngine(direct, 'direct', meter), binary }, handedOver)
}
