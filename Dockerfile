# syntax=docker/dockerfile:1
# Threadlore and its packages, run by a user without privileges; all data is in the volume /data.
#
#   docker build --tag threadlore .
#   docker run --env-file .env --volume threadlore:/data threadlore
#
# compose.yaml does both, and serves /healthz and /metrics.

# Tags, not digests: docs/operations.md says why, and how to fix them.
ARG PYTHON=3.11
ARG NODE=22

# The scripts and styles of the page.
FROM node:${NODE}-slim AS page
WORKDIR /source
COPY adapters adapters
RUN cd adapters/web/frontend && npm ci && npm run build

FROM python:${PYTHON}-slim AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv --without-pip /app
WORKDIR /source
# Packages first: they change less often than the source.
COPY requirements.lock requirements-extras.lock locking/tools.lock ./
RUN pip install --no-deps --require-hashes -r tools.lock
RUN pip --python /app/bin/python install --no-deps --require-hashes -r requirements.lock -r requirements-extras.lock
COPY pyproject.toml README.md LICENSE ./
COPY adapters adapters
COPY bot bot
COPY engine engine
COPY --from=page /source/adapters/web/static adapters/web/static
# The build backend is installed in this stage only, and fetches nothing.
RUN pip wheel --no-deps --no-build-isolation --wheel-dir /wheels . \
 && pip --python /app/bin/python install --no-deps /wheels/*.whl

FROM python:${PYTHON}-slim
# Fonts for names in graph pictures: Chinese, Japanese, Korean, and other scripts that matplotlib lacks.
# git and ssh read repositories, and git says what a folder ignores (docs/sources.md).
RUN apt-get update \
 && apt-get install --yes --no-install-recommends fonts-droid-fallback fonts-noto-core git openssh-client \
 && rm -rf /var/lib/apt/lists/*
RUN useradd --uid 10001 --create-home --shell /usr/sbin/nologin threadlore \
 && install --directory --owner=threadlore --group=threadlore --mode=0700 /data
COPY --from=build /app /app
# Without THREADLORE_DATA_DIR all data is in the volume.
ENV PATH=/app/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    XDG_DATA_HOME=/data \
    XDG_CACHE_HOME=/data/cache \
    MPLCONFIGDIR=/data/cache/matplotlib \
    THREADLORE_MONITORING_HOST=0.0.0.0 \
    THREADLORE_MONITORING_PORT=8080
USER threadlore
WORKDIR /data
VOLUME /data
EXPOSE 8080
# Healthy while /healthz says so: events are handled, and every platform sent one recently. Port 0 disables the check.
HEALTHCHECK --interval=30s --timeout=5s --start-period=120s --retries=3 \
  CMD ["python", "-c", "import os, urllib.request as web; port = os.environ.get('THREADLORE_MONITORING_PORT') or '0'; port == '0' or web.urlopen(f'http://127.0.0.1:{port}/healthz', timeout=4)"]
# On SIGTERM the bot finishes running answers.
STOPSIGNAL SIGTERM
ENTRYPOINT ["threadlore"]
CMD ["serve"]
