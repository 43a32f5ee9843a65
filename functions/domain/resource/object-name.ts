/**
 * Is this a name that the API server takes for most objects: a DNS subdomain (RFC 1123) of at most 253 characters?
 * It also is what makes it safe in a URL path.
 */
export function isObjectName(name: string): boolean {
  return /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/.test(name)
}
