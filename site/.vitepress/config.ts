import { defineConfig } from 'vitepress'
import { anchorOf } from '../anchors.ts'
import { drawDiagrams } from '../diagrams.ts'
import { SIDEBAR } from '../sidebar.ts'

export default defineConfig({
  title: 'Commitlet',
  description: 'Turns Kubernetes custom resources into Git commits and pull requests',
  lang: 'en',
  // No picture, and no request for one.
  head: [['link', { rel: 'icon', href: 'data:,' }]],
  // SITE_BASE: the path of the site at its host, such as /commitlet/.
  base: process.env['SITE_BASE'] ?? '/',
  srcDir: '../dist/site-pages',
  outDir: '../dist/site',
  cacheDir: '../dist/site-cache',
  cleanUrls: true,
  markdown: { config: drawDiagrams, anchor: { slugify: anchorOf } },
  // Mermaid and the search are loaded when they are needed.
  vite: { build: { chunkSizeWarningLimit: 2000 } },
  themeConfig: {
    search: { provider: 'local' },
    sidebar: SIDEBAR,
    nav: [
      { text: 'Get started', link: '/getting-started' },
      { text: 'Reference', link: '/reference-gitcommit' },
      { text: 'Troubleshooting', link: '/troubleshooting' },
    ],
    outline: { level: [2, 3] },
    footer: { message: 'Apache License 2.0' },
  },
})
