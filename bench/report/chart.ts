import * as Plot from '@observablehq/plot'
import { parseHTML } from 'linkedom'

/** One point of a line, or one bar. */
export interface Point {
  readonly x: number
  readonly y: number
  /** The line that it belongs to. */
  readonly line: string
}

/** Lines over an axis, each with its name at its end. */
export interface LineChart {
  readonly title: string
  readonly points: readonly Point[]
  /** Names of lines in the order of their colours, also of lines that are not here; default: those that are. */
  readonly colours?: readonly string[]
  readonly x: Axis
  readonly y: Axis
}

interface Axis {
  readonly label: string
  /** Even steps are multiples. */
  readonly log?: boolean
  /** Exactly these ticks. */
  readonly ticks?: readonly number[]
}

const SIZE = { width: 720, height: 340, marginTop: 36, marginLeft: 66, marginRight: 220, marginBottom: 40 }
/** Fixed colours: a chart looks the same on a light and on a dark page. */
const STYLE = { background: 'white', color: '#222', fontSize: '12px', padding: '4px' }
/** Names of lines at least this far apart, in pixels. */
const LEAST_GAP = 15
/** Above the largest value. */
const HEADROOM = 1.05

/** The chart as the text of an SVG file. */
export function drawLines({ title, points, colours, x, y }: LineChart): string {
  const { document } = parseHTML('<!doctype html><html><body></body></html>')
  const names = colours ?? [...new Set(points.map(({ line }) => line))]
  const type = (axis: Axis): 'log' | 'linear' => (axis.log === true ? 'log' : 'linear')
  const domain = domainOf({ points, y })
  const ticks = y.ticks?.filter((tick) => tick >= domain[0] && tick <= domain[1])
  const options: Plot.PlotOptions = {
    ...SIZE,
    document,
    style: STYLE,
    ariaLabel: title,
    x: {
      type: type(x),
      label: x.label,
      tickFormat: decimal,
      ...(x.ticks ? { ticks: [...new Set(x.ticks)] } : {}),
    },
    y: {
      type: type(y),
      label: y.label,
      grid: true,
      tickFormat: decimal,
      domain,
      ticks: ticks ?? 6,
    },
    color: { domain: [...names], scheme: 'dark2' },
    marks: [
      Plot.lineY(points, { x: 'x', y: 'y', stroke: 'line', strokeWidth: 2, marker: 'circle' }),
      ...namesOf({ points, y }, domain),
    ],
  }
  return textOf(Plot.plot(options))
}

function decimal(value: number): string {
  return value.toLocaleString('en')
}

type Drawn = Pick<LineChart, 'points' | 'y'>

/** Each line's name in the right margin beside its last point, moved where two would cover each other. */
function namesOf({ points, y }: Drawn, domain: readonly [number, number]): readonly Plot.Markish[] {
  const scale = Plot.scale({
    y: {
      type: y.log === true ? 'log' : 'linear',
      domain: [...domain],
      range: [SIZE.height - SIZE.marginBottom, SIZE.marginTop],
    },
  })
  const last = [...Map.groupBy(points, ({ line }) => line).values()]
    .flatMap((line) => line.slice(-1))
    .map((point) => ({ ...point, at: Number(scale.apply(point.y)) }))
    .toSorted((one, other) => one.at - other.at)
  const right = Math.max(...points.map(({ x }) => x))
  let free = -Infinity
  return last.map((point) => {
    const at = Math.max(point.at, free)
    free = at + LEAST_GAP
    return Plot.text([{ ...point, x: right }], {
      x: 'x',
      y: 'y',
      text: 'line',
      fill: 'line',
      textAnchor: 'start',
      dx: 10,
      dy: at - point.at,
      fontWeight: 'bold',
    })
  })
}

/** From zero, or on a logarithmic axis from the tick below the least value, to above the largest one. */
function domainOf({ points, y }: Drawn): [number, number] {
  const values = points.map((point) => point.y)
  const [least, most] = [Math.min(...values), Math.max(...values)]
  if (y.log !== true) return [0, most * HEADROOM]
  const ticks = y.ticks ?? []
  return [ticks.findLast((tick) => tick <= least) ?? least, ticks.find((tick) => tick >= most) ?? most]
}

/** Bars with their values. */
export interface BarChart {
  readonly title: string
  readonly label: string
  readonly bars: readonly { readonly name: string; readonly value: number }[]
}

/** The chart as the text of an SVG file. */
export function drawBars({ title, label, bars }: BarChart): string {
  const { document } = parseHTML('<!doctype html><html><body></body></html>')
  return textOf(
    Plot.plot({
      ...SIZE,
      height: 70 + bars.length * 30,
      marginLeft: 190,
      marginRight: 60,
      document,
      style: STYLE,
      ariaLabel: title,
      x: { label, grid: true, zero: true, nice: true },
      y: { label: null, domain: bars.map(({ name }) => name) },
      marks: [
        Plot.barX(bars, { x: 'value', y: 'name', fill: '#1b9e77' }),
        Plot.text(bars, {
          x: 'value',
          y: 'name',
          text: ({ value }: { readonly value: number }) => value.toLocaleString('en'),
          textAnchor: 'start',
          dx: 6,
        }),
      ],
    }),
  )
}

/** What is needed of an SVG element: the types of the DOM are those of browsers. */
interface Drawing {
  readonly outerHTML: string
  setAttribute(name: string, value: string): void
}

function textOf(drawn: Drawing): string {
  drawn.setAttribute('xmlns', 'http://www.w3.org/2000/svg')
  return `${drawn.outerHTML}\n`
}
