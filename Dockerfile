# docker build --tag harness .                                 the light core
# docker build --tag harness --build-arg EXTRAS=local,chroma . with extras
# docker run --rm --volume "$PWD:/work" harness bench my.yaml
FROM python:3.12.12-slim-bookworm AS build
WORKDIR /source
COPY pyproject.toml README.md LICENSE llms.txt ./
COPY harness harness
COPY tools tools
COPY configs configs
COPY corpora corpora
COPY docs docs
RUN pip wheel --no-cache-dir --no-deps --wheel-dir /wheels .

FROM python:3.12.12-slim-bookworm
ARG EXTRAS=""
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 HF_HUB_DISABLE_TELEMETRY=1 PYTHONUNBUFFERED=1
SHELL ["/bin/bash", "-o", "pipefail", "-c"]
# the wheel that was built above, which has one version
# hadolint ignore=DL3013
RUN --mount=type=bind,from=build,source=/wheels,target=/wheels \
    for wheel in /wheels/*.whl; do pip install --no-cache-dir "$wheel${EXTRAS:+[$EXTRAS]}"; done \
    && useradd --create-home --uid 1000 harness
USER 1000
WORKDIR /work
ENTRYPOINT ["harness"]
CMD ["--help"]
