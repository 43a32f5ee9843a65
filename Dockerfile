# One image for both parts: the argument is dist/function.cjs or dist/webhook.cjs.
# Both bases are of one Debian release, because the first one's node runs in the second. Their tags move with each update:
# for a build that gives the same image again, pass them with their digests (see docs/install.md).
ARG NODE_IMAGE=node:24-bookworm-slim
ARG BASE_IMAGE=debian:bookworm-slim

FROM ${NODE_IMAGE} AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
# Uses the image's own node and not `npm run`, which would use the one that npm installed: the code cache works only with
# the node that created it.
RUN node build.ts

FROM ${BASE_IMAGE}
# git with https; setpriv and timeout restrict each of its processes; tini reaps orphaned ones.
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates coreutils git tini util-linux \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt /var/log/apt /var/log/dpkg.log
COPY --from=build /usr/local/bin/node /usr/local/bin/node
WORKDIR /app
COPY --from=build /app/LICENSE /app/boot.cjs ./
COPY --from=build /app/dist ./dist
# Half of Node's threads may resolve names: one for each of the function's 64 sessions, and of 64 changes that log in to a host.
ENV UV_THREADPOOL_SIZE=256
# For the C library (resolv.conf(5)). A pod's own option, ndots:5, has it look for git.example.com as a Service of a namespace
# `com` first, which would get the connections of everybody to that host.
ENV RES_OPTIONS=ndots:1
# For malloc (mallopt(3)): its own value at first, which it would raise to the size of what is freed. Then a few bytes in use in each
# of the arenas of many threads keep what large answers came in.
ENV MALLOC_MMAP_THRESHOLD_=131072
# The version is that of package.json (`npm run set-version`).
LABEL org.opencontainers.image.title=Commitlet \
    org.opencontainers.image.description="Turns Kubernetes custom resources into Git commits and pull requests" \
    org.opencontainers.image.licenses=Apache-2.0 \
    org.opencontainers.image.version=0.1.0
# A number instead of a name, so that runAsNonRoot can verify that it is not root.
USER 65532:65532
# With its default of 16 MiB, V8 keeps some 60 MiB more of what is no longer used after 1,000 commits at once.
ENTRYPOINT ["tini", "--", "node", "--max-semi-space-size=4", "boot.cjs"]
CMD ["dist/function.cjs"]
