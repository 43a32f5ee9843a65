import type { Issued } from '../domain/credentials/login.ts'
import { Failure } from '../domain/failure.ts'

/**
 * Does the work with a login. If the host does not accept a token that it has issued itself, does the work once more with
 * a new one: a token ends when its App is changed. Work that has failed so has changed nothing at the host. If it does not
 * accept that one either, the failure is transient: it may take GitHub some seconds until all its servers know a token.
 */
export async function withNewToken<L extends { readonly issued?: Issued | undefined }, T>(
  logIn: () => Promise<L>,
  work: (login: L) => Promise<T>,
): Promise<T> {
  const login = await logIn()
  const { issued } = login
  try {
    return await work(login)
  } catch (error) {
    // Where the credentials are the cause, the App may have other rights by now than when the token was issued.
    if (issued === undefined || !(error instanceof Failure) || !error.fallback) throw error
    issued.forget()
    if (error.reason !== 'AuthenticationFailed') throw error
    const renewed = await logIn()
    return work(renewed).catch((refused: unknown) => {
      throw asTransient(refused)
    })
  }
}

function asTransient(error: unknown): unknown {
  if (!(error instanceof Failure) || error.reason !== 'AuthenticationFailed') return error
  return new Failure(error.reason, error.message, { cause: error, retry: 'transient' })
}
