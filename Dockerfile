# The suite, with Node for adapters in JavaScript:
#   docker build -t sds-conformance .
#   docker run --rm --network none -v "$PWD:/data" sds-conformance run -- node adapter.mjs
FROM python:3.13-slim-bookworm AS build
WORKDIR /source
COPY . .
RUN python -m venv /suite && /suite/bin/pip install --no-cache-dir '.[grpc]'

FROM python:3.13-slim-bookworm
RUN apt-get update \
    && apt-get install -y --no-install-recommends nodejs \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --create-home tester \
    && mkdir /data \
    && chown tester /data
COPY --from=build /suite /suite
ENV PATH=/suite/bin:$PATH
USER tester
WORKDIR /data
ENTRYPOINT ["sds-conformance"]
CMD ["--help"]
