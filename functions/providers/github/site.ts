/** Is it GitHub's own service, github.com or a *.ghe.com, rather than an Enterprise Server of somebody else's? */
export function isOfGitHub(baseURL: string): boolean {
  const { hostname } = new URL(baseURL)
  return hostname === 'api.github.com' || hostname.endsWith('.ghe.com')
}

/** Host, and port where it is written, of the web site: GitHub's own service has its API at `api.` before it. */
export function siteOf(baseURL: string): string {
  const { host } = new URL(baseURL)
  return isOfGitHub(baseURL) ? host.replace(/^api\./, '') : host
}
