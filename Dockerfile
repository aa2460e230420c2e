# The server in a small image, as a user without rights. Data, certificates and the kubeconfig are in /data.
# All packages have the versions and hashes of the lock files (scripts/lock writes them). The base is pinned by the digest of
# its index, which has an image for each architecture. Its tag says what it is: change both together. The bill of materials
# is /opt/aio-apiserver/share/sbom/aio-apiserver.cdx.json.
#
#   docker build -t aio-apiserver .
#   docker buildx build --platform linux/amd64,linux/arm64 -t aio-apiserver .
#   docker run -p 127.0.0.1:6443:6443 -v apiserver:/data aio-apiserver
#   docker run aio-apiserver --etcd-servers=http://etcd:2379

ARG BASE=python:3.13.15-slim-trixie@sha256:9d2e5553305c7c7b0097999bb17187c69b921ccd6bc9d40e4bb5ebe652c00285

FROM ${BASE} AS build
WORKDIR /src
COPY requirements.lock build-requirements.lock ./
RUN python -m venv /opt/aio-apiserver && python -m venv /opt/build && \
    /opt/aio-apiserver/bin/pip install --no-cache-dir --only-binary=:all: --require-hashes --requirement requirements.lock && \
    /opt/build/bin/pip install --no-cache-dir --only-binary=:all: --require-hashes --requirement build-requirements.lock
COPY pyproject.toml README.md LICENSE ./
COPY docs/apiserver.1 docs/apiserver.1
COPY scripts/sbom.py scripts/sbom.py
COPY base base
COPY storage storage
COPY registry registry
COPY controllers controllers
COPY simulation simulation
COPY testing testing
COPY apiserver apiserver
COPY src src
RUN /opt/build/bin/hatchling build --target wheel --directory /wheel && \
    /opt/aio-apiserver/bin/pip install --no-cache-dir --no-index --no-deps /wheel/*.whl && \
    /opt/aio-apiserver/bin/pip check && /opt/aio-apiserver/bin/pip uninstall --yes pip && \
    mkdir -p /opt/aio-apiserver/share/sbom && \
    python scripts/sbom.py > /opt/aio-apiserver/share/sbom/aio-apiserver.cdx.json

FROM ${BASE}
LABEL org.opencontainers.image.title="aio-apiserver" \
      org.opencontainers.image.description="The Kubernetes API server in asyncio Python" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.base.name="docker.io/library/python:3.13.15-slim-trixie" \
      org.opencontainers.image.base.digest="sha256:9d2e5553305c7c7b0097999bb17187c69b921ccd6bc9d40e4bb5ebe652c00285"
COPY --from=build /opt/aio-apiserver /opt/aio-apiserver
RUN install --directory --owner=65532 --group=65532 --mode=0700 /data
ENV PATH=/opt/aio-apiserver/bin:$PATH PYTHONUNBUFFERED=1
USER 65532:65532
VOLUME /data
EXPOSE 6443
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --start-interval=1s \
    CMD ["apiserver", "healthcheck", "--data-dir=/data", "--path=/livez"]
ENTRYPOINT ["apiserver", "--data-dir=/data"]
