/** What the stand-in of a node reads of Kubernetes objects. */
export interface Metadata {
  readonly name: string
  readonly namespace: string
  readonly uid: string
  readonly generation?: number
  readonly labels?: Readonly<Record<string, string>>
  readonly deletionTimestamp?: string
  readonly deletionGracePeriodSeconds?: number
}

export interface Service {
  readonly metadata: Metadata
  readonly spec: {
    readonly type?: string
    readonly clusterIP?: string
    readonly ports?: readonly { readonly name?: string; readonly port: number }[]
  }
}

export interface Endpoints {
  readonly metadata: Metadata
  readonly subsets?: readonly {
    readonly addresses?: readonly { readonly ip: string }[]
    readonly ports?: readonly { readonly name?: string; readonly port: number }[]
  }[]
}

export interface Split {
  readonly serviceNamespace: string
  readonly serviceName: string
  readonly servicePort: number
  readonly appendHeaders?: Readonly<Record<string, string>>
}

export interface Ingress {
  readonly metadata: Metadata
  readonly spec: {
    readonly rules: readonly {
      readonly hosts: readonly string[]
      readonly http: {
        readonly paths: readonly { readonly headers?: object; readonly splits: readonly Split[] }[]
      }
    }[]
  }
  readonly status?: { readonly observedGeneration?: number }
}

interface KeyRef {
  readonly name: string
  readonly key: string
  readonly optional?: boolean
}

export interface EnvVar {
  readonly name: string
  readonly value?: string
  readonly valueFrom?: {
    readonly fieldRef?: { readonly fieldPath: string }
    readonly secretKeyRef?: KeyRef
    readonly configMapKeyRef?: KeyRef
  }
}

export interface Probe {
  readonly httpGet?: {
    readonly port: number | string
    readonly path?: string
    readonly scheme?: string
    readonly httpHeaders?: readonly { readonly name: string; readonly value: string }[]
  }
  readonly tcpSocket?: { readonly port: number | string }
  readonly initialDelaySeconds?: number
  readonly periodSeconds?: number
  readonly timeoutSeconds?: number
  readonly failureThreshold?: number
}

export interface SecurityContext {
  readonly runAsUser?: number
  readonly runAsGroup?: number
  readonly fsGroup?: number
}

export interface Container {
  readonly name: string
  readonly image: string
  readonly command?: readonly string[]
  readonly args?: readonly string[]
  readonly env?: readonly EnvVar[]
  readonly ports?: readonly { readonly name?: string; readonly containerPort: number }[]
  readonly readinessProbe?: Probe
  readonly livenessProbe?: Probe
  readonly startupProbe?: Probe
  readonly lifecycle?: {
    readonly preStop?: {
      readonly httpGet?: { readonly port: number; readonly path: string }
      readonly sleep?: { readonly seconds: number }
    }
  }
  readonly securityContext?: SecurityContext & { readonly readOnlyRootFilesystem?: boolean }
  readonly volumeMounts?: readonly { readonly name: string; readonly mountPath: string }[]
}

interface Items {
  readonly items?: readonly { readonly key: string; readonly path: string }[]
  readonly optional?: boolean
  readonly defaultMode?: number
}

export interface Volume {
  readonly name: string
  readonly emptyDir?: object
  readonly secret?: Items & { readonly secretName: string }
  readonly configMap?: Items & { readonly name: string }
}

export interface Pod {
  readonly metadata: Metadata
  readonly spec: {
    readonly nodeName?: string
    readonly serviceAccountName?: string
    readonly automountServiceAccountToken?: boolean
    readonly securityContext?: SecurityContext
    readonly containers: readonly Container[]
    readonly volumes?: readonly Volume[]
  }
}

/** `NAMESPACE/NAME` */
export function keyOf({ metadata }: { readonly metadata: Metadata }): string {
  return `${metadata.namespace}/${metadata.name}`
}
