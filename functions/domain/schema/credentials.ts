import type { Schema } from './schema.ts'

const SECRET_KEY = { minLength: 1, maxLength: 253, pattern: '^[-._a-zA-Z0-9]+$' } as const

function secretKey(description: string): Schema {
  return { type: 'string', description, expects: 'the name of a key in the Secret', ...SECRET_KEY }
}

/** `spec.credentials` and `spec.fallbackCredentials`; `use` says when they are used. */
export function credentialsSchema(use: string): Schema {
  return {
    type: 'object',
    description:
      `${use} They stand in a Secret of the same namespace; the fields below name the Secret and the keys in it, ` +
      'never the values. With secretName alone, the type of the Secret and the usual names of its keys decide. ' +
      'Example: {secretName: git, tokenKey: token}',
    expects: 'an object such as {secretName: git, tokenKey: token}',
    required: ['secretName'],
    'x-kubernetes-map-type': 'atomic',
    'x-kubernetes-validations': [
      {
        rule: '!(has(self.tokenKey) && has(self.passwordKey))',
        message: 'tokenKey and passwordKey exclude each other: name one of them.',
      },
    ],
    properties: {
      secretName: {
        type: 'string',
        description:
          'The name of the Secret, in the namespace of this resource. Its type is Opaque, ' +
          'kubernetes.io/basic-auth or kubernetes.io/ssh-auth. Example: git',
        expects: 'the name of a Secret in the same namespace',
        minLength: 1,
        maxLength: 253,
        pattern: '^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$',
      },
      tokenKey: secretKey('The key in the Secret that holds an access token. Example: token'),
      usernameKey: secretKey(
        'The key in the Secret that holds the user name, which goes with passwordKey, or with tokenKey where ' +
          'the host asks for a certain name. Example: username',
      ),
      passwordKey: secretKey('The key in the Secret that holds the password. Example: password'),
      privateKeyKey: secretKey(
        'The key in the Secret that holds a private SSH key, for SSH addresses: ed25519, ECDSA or RSA, without a passphrase. ' +
          'Example: ssh-privatekey',
      ),
      knownHostsKey: secretKey(
        'The key in the Secret that holds the known_hosts lines of the SSH server; without it the keys of the operator, or of the public hosts, count. ' +
          'Example: known_hosts',
      ),
      appIDKey: secretKey(
        'The key in the Secret that holds the id of a GitHub App. Not supported yet. Example: app-id',
      ),
      installationIDKey: secretKey(
        'The key in the Secret that holds the installation id of a GitHub App. Not supported yet. ' +
          'Example: installation-id',
      ),
    },
  }
}
