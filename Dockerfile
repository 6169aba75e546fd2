# One image for web, worker and the one-off commands; what differs is the command.
FROM python:3.13.9-slim-bookworm AS build

ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
RUN python -m venv /opt/venv
ENV PATH=/opt/venv/bin:$PATH

# The packages first: they change less often than the code and stay in their layer.
COPY requirements/build.txt requirements/runtime.txt /tmp/requirements/
RUN pip install --quiet --require-hashes --no-deps --only-binary :all: \
    -r /tmp/requirements/build.txt -r /tmp/requirements/runtime.txt

WORKDIR /srv/topogate
COPY manage.py pyproject.toml README.md ./
COPY config config
COPY planner planner
COPY reviews reviews
COPY templates templates
COPY static static
COPY examples examples
COPY deploy/healthcheck.py deploy/healthcheck.py
RUN pip install --quiet --no-deps --no-build-isolation --editable . \
    && DATA_DIR=/srv/topogate/data STATIC_COLLECTED=true DATABASE_URL=sqlite://:memory: \
       python manage.py collectstatic --no-input --verbosity 0 \
    && python -m compileall -q config planner reviews


FROM python:3.13.9-slim-bookworm

RUN useradd --system --uid 10001 --no-create-home --shell /usr/sbin/nologin topogate
COPY --from=build /opt/venv /opt/venv
COPY --from=build /srv/topogate /srv/topogate

ENV PATH=/opt/venv/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    DATA_DIR=/srv/topogate/data \
    DJANGO_SETTINGS_MODULE=config.settings \
    STATIC_COLLECTED=true
WORKDIR /srv/topogate
USER 10001
EXPOSE 8000
HEALTHCHECK --interval=30s --timeout=5s --start-period=30s --retries=3 CMD ["python", "deploy/healthcheck.py"]
CMD ["gunicorn", "--config", "python:config.gunicorn", "config.wsgi"]
