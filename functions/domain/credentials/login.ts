/** What Git needs to log in at a remote. */
export type Login = PasswordLogin | KeyLogin

interface AnyLogin {
  /** Equal for the same credential, different otherwise; safe to keep in memory as a key, never logged. */
  readonly identity: string
  /** Every value of the Secret in use, the login's or not, to be taken out of text of the remote. */
  readonly secrets: readonly string[]
}

/** Over HTTPS; a token is a password, too. */
export interface PasswordLogin extends AnyLogin {
  readonly method: 'password'
  readonly username: string
  readonly password: string
}

/** Over SSH. */
export interface KeyLogin extends AnyLogin {
  readonly method: 'key'
  /** Text of the private key, not encrypted, in a form that ssh2 reads. */
  readonly privateKey: string
  /** Lines as in known_hosts(5) that hold for the remote's host and port. */
  readonly hostKeys: string
}

/** Every secret that a login may put on the wire: the Secret's values, the pair of Basic authentication, a key's lines. */
export function secretsOf(login: Login): readonly string[] {
  if (login.method === 'key') return [...login.secrets, ...linesOf(login.privateKey)]
  return [...login.secrets, login.password, `${login.username}:${login.password}`]
}

export function linesOf(privateKey: string): readonly string[] {
  return privateKey.split('\n').filter((line) => line !== '' && !line.startsWith('-----'))
}
