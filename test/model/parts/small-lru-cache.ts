import { LRUCache as Whole } from 'lru-cache'

/** More entries than a state of the model has of anything. */
const MOST = 200

/** Stands in for lru-cache, which takes the room of all its entries at once: most of the time of a start. */
export class LRUCache<K extends object | string, V extends object | string | number | boolean> extends Whole<
  K,
  V
> {
  constructor(options: Whole.Options<K, V, unknown>) {
    super(options.max === undefined ? options : { ...options, max: Math.min(options.max, MOST) })
  }
}
