#!/usr/bin/env bash
# Creates the webhook's serving certificate, valid for a year: the Secret commitlet-webhook-tls, and its authority as
# caBundle in both webhook configurations. Run it again to renew the certificate. The newest two of the previous authorities
# stay in caBundle until every pod serves the new certificate. Each authority signs one certificate; its key is discarded.
# No key is in a file or an argument. Needs kubectl with its current context, and openssl 3.
set -euo pipefail

namespace=${NAMESPACE:-commitlet-system}
name=commitlet-webhook-tls
host=commitlet-webhook.$namespace.svc
days=365

fail() {
  printf 'certificate.sh: %s\n' "$1" >&2
  exit 1
}

# The first $1 certificates of standard input, as PEM. Other text is ignored.
certificates() {
  awk -v most="$1" '/-----BEGIN CERTIFICATE-----/ { n++ } n > 0 && n <= most { print }'
}

new_key() {
  openssl genpkey -algorithm EC -pkeyopt ec_paramgen_curve:P-256
}

# A new certificate for the host (with $key), followed by its authority's certificate.
issue() {
  local authority_key authority
  authority_key=$(new_key)
  authority=$(openssl req -x509 -new -sha256 -days "$days" -key <(printf '%s\n' "$authority_key") \
    -config <(printf '%s\n' '[req]' 'distinguished_name=dn' 'x509_extensions=ca' 'prompt=no' \
      '[dn]' "CN=Commitlet webhook authority $(date -u +%Y-%m-%dT%H:%M:%SZ)" \
      '[ca]' 'basicConstraints=critical,CA:TRUE,pathlen:0' 'keyUsage=critical,keyCertSign' \
      'subjectKeyIdentifier=hash'))
  openssl req -new -sha256 -key <(printf '%s\n' "$key") \
    -config <(printf '%s\n' '[req]' 'distinguished_name=dn' 'prompt=no' '[dn]' "CN=commitlet-webhook") |
    openssl x509 -req -sha256 -days "$days" -set_serial "0x$(openssl rand -hex 16)" \
      -CA <(printf '%s\n' "$authority") -CAkey <(printf '%s\n' "$authority_key") \
      -extfile <(printf '%s\n' 'basicConstraints=critical,CA:FALSE' 'keyUsage=critical,digitalSignature' \
        'extendedKeyUsage=serverAuth' "subjectAltName=DNS:$host")
  printf '%s\n' "$authority"
}

# $1: mutatingwebhookconfiguration or validatingwebhookconfiguration.
trust() {
  local known bundle
  known=$(kubectl get "$1" commitlet -o jsonpath='{.webhooks[0].clientConfig.caBundle}' | base64 -d) ||
    fail "the $1 commitlet cannot be read; run step 2 of docs/install.md first."
  bundle=$({
    printf '%s\n' "$authority"
    certificates 2 <<<"$known"
  } | base64 | tr -d '\n')
  kubectl patch "$1" commitlet --type=json -p \
    "[{\"op\":\"add\",\"path\":\"/webhooks/0/clientConfig/caBundle\",\"value\":\"$bundle\"}]" >/dev/null ||
    fail "the $1 commitlet could not be changed; ask for the right to patch it."
}

[ $# -eq 0 ] || fail "\"$1\" is not an option: this script has none."
command -v kubectl >/dev/null || fail 'kubectl is not in the PATH; install it.'
command -v openssl >/dev/null || fail 'openssl is not in the PATH; install it.'
kubectl get namespace "$namespace" -o name >/dev/null ||
  fail "the namespace $namespace cannot be read; check the context of kubectl and run step 2 of docs/install.md first."

key=$(new_key)
issued=$(issue 2>/dev/null) || fail 'openssl could not create the certificate; use version 3.'
certificate=$(certificates 1 <<<"$issued")
authority=${issued#"$certificate"$'\n'}
[ -n "$certificate" ] && [ "$authority" != "$issued" ] || fail 'openssl created no certificate; use version 3.'

# Trust it first and serve it afterwards: the API server never sees an unknown authority.
trust mutatingwebhookconfiguration
trust validatingwebhookconfiguration
# Server-side: an ordinary apply would store the key in an annotation.
kubectl -n "$namespace" create secret tls "$name" --dry-run=client -o yaml \
  --cert=<(printf '%s\n' "$certificate") --key=<(printf '%s\n' "$key") |
  kubectl apply --server-side --force-conflicts --field-manager=commitlet-setup -f - >/dev/null ||
  fail "the Secret $name could not be written in $namespace."
echo "The Secret $namespace/$name contains a certificate for $host, valid until $(openssl x509 -noout -enddate <<<"$certificate" | cut -d= -f2)."
