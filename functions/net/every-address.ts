/** What Node reports where the kernel has no IPv6 (ipv6.disable=1). */
const WITHOUT_IPV6 = 'EAFNOSUPPORT'

/** Calls `listen` with the host that stands for all addresses of this machine: of IPv6 and IPv4, or of IPv4 where that is all. */
export async function atEveryAddress<T>(listen: (host: string) => Promise<T>): Promise<T> {
  return listen('::').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === WITHOUT_IPV6) return listen('0.0.0.0')
    throw error
  })
}
