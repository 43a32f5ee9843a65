#!/usr/bin/env bash
# Makes the key by which the webhook signs who asked, and the function believes it: the Secret commitlet-stamp-key in
# the namespace commitlet-system, 48 random bytes. A key that is there stays, unless --renew is given: then whatever is
# under way has to be asked for anew (see docs/install.md). The key is in no file, argument or output.
# Needs kubectl and its current context.
set -euo pipefail

namespace=commitlet-system
name=commitlet-stamp-key

fail() {
  printf 'stamp-key.sh: %s\n' "$1" >&2
  exit 1
}

secret() {
  printf '{"apiVersion":"v1","kind":"Secret","type":"Opaque","metadata":{"namespace":"%s","name":"%s",' "$namespace" "$name"
  printf '"labels":{"app.kubernetes.io/part-of":"commitlet"}},"data":{"key":"%s"}}' "$(head -c 48 /dev/urandom | base64 | tr -d '\n')"
}

case ${1-} in
  '' | --renew) ;;
  *) fail "\"$1\" is not an option: give none, or --renew for another key." ;;
esac
command -v kubectl >/dev/null || fail 'kubectl is not in the PATH; install it.'
kubectl get namespace "$namespace" -o name >/dev/null ||
  fail "the namespace $namespace cannot be read; check the context of kubectl and run step 2 of docs/install.md first."

found=$(kubectl -n "$namespace" get secret "$name" --ignore-not-found -o name) ||
  fail "the Secret $name cannot be read in $namespace; ask for the right to get it."
if [ -z "$found" ]; then
  # Never apply: it would keep the key in an annotation.
  secret | kubectl create -f - >/dev/null || fail "the Secret $name could not be created in $namespace."
  echo "The Secret $namespace/$name is made."
elif [ "${1-}" = --renew ]; then
  secret | kubectl replace -f - >/dev/null || fail "the Secret $name could not be replaced in $namespace."
  echo "The Secret $namespace/$name holds another key; both parts read it when they start, so restart them."
else
  echo "The Secret $namespace/$name is there already and stays as it is."
fi
