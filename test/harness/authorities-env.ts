type Environment = Readonly<Record<string, string | undefined>>

/** As OpenSSL and Go name the machine's authorities in the environment. */
const NAMES = ['SSL_CERT_FILE', 'SSL_CERT_DIR'] as const
const KEPT = 'COMMITLET_TEST_MACHINE_'

/** The environment in which tests trust these authorities alone; the machine's own stay there under other names. */
export function trusting(file: string, folder: string, env: Environment): Readonly<Record<string, string>> {
  const kept = NAMES.flatMap((name) => (env[name] === undefined ? [] : [[KEPT + name, env[name]] as const]))
  return {
    ...Object.fromEntries(kept),
    SSL_CERT_FILE: file,
    SSL_CERT_DIR: folder,
    [`${KEPT}AUTHORITIES`]: 'kept',
  }
}

/** The environment as it was before `trusting`, for programs that ask hosts outside of the machine, as Go does. */
export function trustingTheMachine(env: Environment): Environment {
  if (env[`${KEPT}AUTHORITIES`] === undefined) return env
  return { ...env, ...Object.fromEntries(NAMES.map((name) => [name, env[KEPT + name]])) }
}
