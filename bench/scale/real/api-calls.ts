import type { ControlPlane } from '../../../test/harness/control-plane.ts'

const COUNTED = /^(gitcommits|subjectaccessreviews|secrets|configmaps|events)$/

/**
 * Calls that the API server has answered so far, by "VERB resource status", from its own metrics: of what an attempt and an
 * admission call, without lists.
 */
export async function callsOf({ api }: ControlPlane): Promise<Readonly<Record<string, number>>> {
  const text = String(await api.need('GET', '/metrics'))
  const calls: Record<string, number> = {}
  for (const [, labels = '', value] of text.matchAll(/^apiserver_request_total\{(.*)\} (\S+)$/gm)) {
    const label = (name: string): string => new RegExp(`(?:^|,)${name}="([^"]*)"`).exec(labels)?.[1] ?? ''
    if (!COUNTED.test(label('resource')) || label('verb') === 'LIST') continue
    const sub = label('subresource')
    const key = `${label('verb')} ${label('resource')}${sub === '' ? '' : `/${sub}`} ${label('code')}`
    calls[key] = (calls[key] ?? 0) + Number(value)
  }
  return calls
}
