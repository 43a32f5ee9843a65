/** The parsed form of a repository address: it alone makes every check and the address that Git gets. */
export interface RepositoryAddress {
  readonly scheme: 'https' | 'ssh'
  /** User of an SSH address. */
  readonly user: string | undefined
  /** Lower-case name or canonical IP address; IPv6 without brackets. */
  readonly host: string
  /** Always set: the scheme's default where the address names none. */
  readonly port: number
  /** Segments of the path, the last one without `.git`. */
  readonly segments: readonly string[]
  /** The address exactly as it was written, which Git is called with. */
  readonly text: string
}
