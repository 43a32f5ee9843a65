/** How the lines of a file are written. */
export interface FileStyle {
  readonly quote: '' | "'" | '"'
  readonly comment: boolean
  readonly wide: boolean
  readonly newline: string
  readonly finalNewline: boolean
}

/** A file by its shape: `$` (without a brace after it) stands for a value, and the n-th path for the n-th of them. */
export interface FileShape {
  readonly name: string
  readonly text: string
  readonly fields: readonly string[]
  readonly document?: number
}

const VALUES = `# Values of the chart

replicaCount: 1

image:
  repository: $
  pullPolicy: IfNotPresent
  # Overrides the version of the chart.
  tag: $

imagePullSecrets: []
podAnnotations: {}
ingress:
  enabled: false
  hosts:
    - host: $
      paths: [{ path: /, pathType: Prefix }]
  tls: []

resources:
  limits: &limits
    cpu: 100m
    memory: $
nodeSelector: {}
`

const KUSTOMIZATION = `apiVersion: kustomize.config.k8s.io/v1beta1
kind: Kustomization
namespace: $
resources:
- ../../base
- config.yaml

images:
- name: app
  newName: registry.example/app
  newTag: $
- name: side
  newTag: $
patches:
- target: {kind: Deployment, name: app}
  patch: |-
    - op: replace
      path: /spec/replicas
      value: 3
`

const WORKFLOW = `name: build
on:
  push:
    branches: [main, 'release/**']
env:
  VERSION: $
jobs:
  test:
    runs-on: $
    strategy:
      matrix:
        node: [22, 24]
    steps:
      - uses: actions/checkout@v4
      - name: Test
        run: |
          npm ci
          # not a comment
          npm test -- --seed=\${{ github.sha }}
        env:
          LEVEL: $
      - uses: $
`

const DEFINITION = `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  annotations:
    controller-gen.kubebuilder.io/version: $
  name: widgets.example.com
spec:
  versions:
  - name: v1
    schema:
      openAPIV3Schema:
        description: |-
          A widget: what it is,
            and what it is not.

          More of it.
        properties:
          size:
            description: 'How large: "small" or "large"'
            enum:
            - small
            - large
            type: $
        type: object
    served: true
    storage: $
`

const COMPOSE = `x-logging: &logging
  driver: json-file
  options: { max-size: "10m" }

services:
  web:
    image: $
    logging: *logging
    command: ["node", "main.js"]
    ports:
      - "8080:80"
    environment:
      <<: *logging
      MODE: $

  db:
    image: $
    healthcheck: {test: [CMD, pg_isready], interval: $}
volumes:
  data:
`

const DOCUMENTS = `# The first
apiVersion: v1
kind: ServiceAccount
metadata: {name: app}
---
# The second
apiVersion: apps/v1
kind: Deployment
metadata:
  name: $
spec:
  template:
    spec:
      containers:
        -   name: app
            image: $
            args:
              - --level
              - $
        -   name: side
            image: $
---
apiVersion: v1
kind: Service
`

const PIPELINE = `variables:
  IMAGE: $
.base: &base
  before_script:
    - echo "a: b"

build:
  <<: *base
  stage: $
  script:
    - >-
      docker build
      --tag %IMAGE .
    - |
      if true; then
        echo done
      fi
  rules: [{if: '%CI'}, {when: never}]
`

const ARGO = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
    name: shop
spec:
    source:
        repoURL: https://git.example/shop.git
        targetRevision: $
        helm:
            values: |
                image:
                  tag: old
            parameters:
                - { name: image.tag, value: $ }
    destination: {server: 'https://kubernetes.default.svc', namespace: $}
`

/** Files as people keep them in repositories. */
export const SHAPES: readonly FileShape[] = [
  {
    name: 'values of a chart',
    text: VALUES,
    fields: ['.image.repository', '.image.tag', '.ingress.hosts[0].host', '.resources.limits.memory'],
  },
  {
    name: 'kustomization',
    text: KUSTOMIZATION,
    fields: ['.namespace', '.images[?(@.name=="app")].newTag', '.images[1].newTag'],
  },
  {
    name: 'workflow',
    text: WORKFLOW,
    fields: [
      '.env.VERSION',
      '.jobs.test["runs-on"]',
      '.jobs.test.steps[1].env.LEVEL',
      '.jobs.test.steps[2].uses',
    ],
  },
  {
    name: 'definition',
    text: DEFINITION,
    fields: [
      '.metadata.annotations.controller-gen\\.kubebuilder\\.io/version',
      '.spec.versions[0].schema.openAPIV3Schema.properties.size.type',
      '.spec.versions[?(@.name=="v1")].storage',
    ],
  },
  {
    name: 'compose file',
    text: COMPOSE,
    fields: [
      '.services.web.image',
      '.services.web.environment.MODE',
      '.services.db.image',
      '.services.db.healthcheck.interval',
    ],
  },
  {
    name: 'several documents',
    text: DOCUMENTS,
    document: 1,
    fields: [
      '.metadata.name',
      '.spec.template.spec.containers[0].image',
      '.spec.template.spec.containers[0].args[1]',
      '.spec.template.spec.containers[?(@.name=="side")].image',
    ],
  },
  { name: 'pipeline', text: PIPELINE, fields: ['.variables.IMAGE', '.build.stage'] },
  {
    name: 'application',
    text: ARGO,
    fields: [
      '.spec.source.targetRevision',
      '.spec.source.helm.parameters[0].value',
      '.spec.destination.namespace',
    ],
  },
]

/** 25 styles: each value of each property occurs, in many combinations. */
export const STYLES: readonly FileStyle[] = Array.from({ length: 25 }, (_, n) => ({
  quote: (['', "'", '"'] as const)[n % 3] ?? '',
  comment: n % 2 === 0,
  wide: n % 5 === 1,
  newline: n % 4 === 3 ? '\r\n' : '\n',
  finalNewline: n % 7 !== 2,
}))

/** The text of a file in a style, with these values. */
export function textOf({ text }: FileShape, style: FileStyle, values: readonly string[]): string {
  let at = 0
  const filled = text.replaceAll(/\$(?!\{)/g, () => `${style.quote}${values[at++] ?? ''}${style.quote}`)
  // Only whole lines get a comment: a brace may follow elsewhere.
  const commented = style.comment ? filled.replaceAll(/(: (["']?)v\d+\2)$/gm, '$1   # note: {a}') : filled
  const wide = style.wide ? commented.replaceAll(/^ *(?:- +)*/gm, widened) : commented
  const ended = style.finalNewline ? wide : wide.slice(0, -1)
  return ended.replaceAll('\n', style.newline)
}

/** Indentation of twice the width. */
function widened(indentation: string): string {
  return indentation.replaceAll(/- +|-| /g, (part) => part.padEnd(part.length * 2))
}
