# One image for both parts: args dist/function.cjs or dist/webhook.cjs.
FROM node:24-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json .npmrc ./
RUN npm ci
COPY . .
# By the image's own node and not by `npm run`, which would take the one that npm installed: the code cache is made for
# the very node that starts the bundles.
RUN node build.ts

FROM debian:bookworm-slim
# git with https; setpriv and timeout bound each of its processes; tini takes in those that lost their parent.
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates coreutils git tini util-linux \
    && rm -rf /var/lib/apt/lists/* /var/cache/apt /var/log/apt /var/log/dpkg.log
COPY --from=build /usr/local/bin/node /usr/local/bin/node
WORKDIR /app
COPY --from=build /app/LICENSE /app/boot.cjs ./
COPY --from=build /app/dist ./dist
# Half of Node's threads may look names up: one for each of the function's 32 attempts at once.
ENV UV_THREADPOOL_SIZE=64
# No name, so that runAsNonRoot can see that it is not root.
USER 65532:65532
ENTRYPOINT ["tini", "--", "node", "boot.cjs"]
CMD ["dist/function.cjs"]
