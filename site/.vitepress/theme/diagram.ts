import { useData, withBase } from 'vitepress'
import { defineComponent, h, onMounted, ref, watch } from 'vue'

interface Mermaid {
  initialize(options: object): void
  render(id: string, text: string): Promise<{ readonly svg: string }>
}

declare global {
  interface Window {
    mermaid?: Mermaid
  }
}

/** Narrow enough for the text to stay as large as that of the page. */
const SEQUENCE = { actorMargin: 20, width: 110, wrap: true, mirrorActors: false, messageMargin: 28 }

let loading: Promise<Mermaid> | undefined
let diagrams = 0

/** Loads the script once, and only for pages with a diagram. */
function loadMermaid(): Promise<Mermaid> {
  loading ??= new Promise((resolve, reject) => {
    const script = document.createElement('script')
    script.src = withBase('/mermaid.tiny.js')
    script.onload = () => {
      if (window.mermaid === undefined) reject(new Error('The script has no Mermaid.'))
      else resolve(window.mermaid)
    }
    script.onerror = () => reject(new Error('The script was not loaded.'))
    document.head.append(script)
  })
  return loading
}

/** The width that Mermaid gave the picture, as CSS. */
function widthOf(svg: string): string {
  return /max-width: ([\d.]+px)/.exec(svg)?.[1] ?? '560px'
}

/** A diagram of Mermaid, in the colours of the page; its text where it cannot be drawn. */
export const Diagram = defineComponent({
  props: { text: { type: String, required: true } },
  setup(props) {
    const { isDark } = useData()
    const svg = ref('')
    const draw = async (): Promise<void> => {
      const mermaid = await loadMermaid()
      const theme = isDark.value ? 'dark' : 'neutral'
      mermaid.initialize({ startOnLoad: false, securityLevel: 'strict', theme, sequence: SEQUENCE })
      const drawn = await mermaid.render(`diagram-${(diagrams += 1)}`, decodeURIComponent(props.text))
      svg.value = drawn.svg
    }
    onMounted(draw)
    watch(isDark, draw)
    return () =>
      svg.value === ''
        ? h('pre', { class: 'diagram' }, decodeURIComponent(props.text))
        : h('div', { class: 'diagram', style: { '--own-width': widthOf(svg.value) }, innerHTML: svg.value })
  },
})
