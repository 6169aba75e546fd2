"""All settings, read from the environment with strict readers.

``PUBLIC_URL`` decides everything about transport: with https the cookies are secure and prefixed, plain requests are
redirected and HSTS is sent; with http (the embedded default on localhost) none of that is. Secrets may be given as
``NAME_FILE``. There is no default secret: without one, commands run with a key of their own and the web server
refuses to start.
"""

import secrets
from datetime import timedelta
from pathlib import Path

import structlog
from csp.constants import NONE, SELF
from structlog.typing import Processor

from config.account_settings import *  # noqa: F403 - Django looks settings up by name, in this module
from config.account_settings import OIDC_FORM_ORIGINS
from config.environment import HTTPS, PUBLIC, days, env, hour, http_proxy, mail_server, mebibytes, seconds, switch
from config.environment import PUBLIC_URL as PUBLIC_URL
from planner.strict_json import MAX_BYTES

BASE_DIR = Path(__file__).resolve().parent.parent
# Where the embedded mode keeps its database, broker socket and collected static files.
DATA_DIR = Path(env.str("DATA_DIR", default=str(BASE_DIR / ".run"))).resolve()
DEBUG = switch("DEBUG")

SECRET_KEY_IS_TEMPORARY = not env.str("SECRET_KEY", default="")
SECRET_KEY = env.str("SECRET_KEY", default="") or secrets.token_urlsafe(64)
SECRET_KEY_FALLBACKS = env.list("SECRET_KEY_FALLBACKS", default=[])

ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=[PUBLIC.hostname])
CSRF_TRUSTED_ORIGINS = [f"{PUBLIC.scheme}://{PUBLIC.netloc}"]

# --- Applications -----------------------------------------------------------------------------------------------

INSTALLED_APPS = [
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "allauth",
    "allauth.account",
    "allauth.mfa",
    "allauth.socialaccount",
    "allauth.socialaccount.providers.openid_connect",
    "allauth.usersessions",
    "axes",
    "csp",
    "django_htmx",
    "django_structlog",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
    "reviews",
]

MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    # Before the static files, so that a drawing that is opened by itself has the policy too.
    "csp.middleware.CSPMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    # Before whatever looks at who asks, which needs the database.
    "config.health.AskedByNobody",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    # Before the check of a form's origin, which reads the whole body.
    "config.body_size.BodyLimit",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    # Needs the person, so it comes after authentication; everything after it is logged with a request id.
    "django_structlog.middlewares.RequestMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    # After the protection against forgery, and once the person is known.
    "reviews.web.sent_again.SentAgain",
    "allauth.account.middleware.AccountMiddleware",
    "config.bad_requests.MethodRefused",
    # Last, as its documentation asks: it turns a locked-out login into its own answer.
    "axes.middleware.AxesMiddleware",
]

ROOT_URLCONF = "config.urls"
WSGI_APPLICATION = "config.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# --- Database ---------------------------------------------------------------------------------------------------

if not env.str("DATABASE_URL", default=""):
    DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
_database = env.db_url("DATABASE_URL", default=f"sqlite:///{DATA_DIR / 'topogate.sqlite3'}")
_database["ATOMIC_REQUESTS"] = False
if _database["ENGINE"] == "django.db.backends.sqlite3":
    # IMMEDIATE: a transaction that reads and then writes would otherwise fail at the lock upgrade, at once.
    _database["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        # recursive_triggers: without it INSERT OR REPLACE would delete a row past the append-only triggers.
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL; PRAGMA recursive_triggers=ON;",
    }
    if _database["NAME"] != ":memory:":
        # A file, because several connections write at once in the tests as they do in use.
        _database["TEST"] = {"NAME": f"{_database['NAME']}.test"}
else:
    _database["CONN_MAX_AGE"] = 60
    _database["CONN_HEALTH_CHECKS"] = True
    _database["OPTIONS"] = {
        # Seconds and milliseconds: a host that went away without a word is otherwise waited for for minutes.
        "connect_timeout": 5,
        "tcp_user_timeout": 20_000,
        **_database.get("OPTIONS", {}),
        "options": "-c statement_timeout=60000 -c lock_timeout=30000",
    }
DATABASES = {"default": _database}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

# --- Broker and worker ------------------------------------------------------------------------------------------

REDIS_URL = env.str("REDIS_URL", default=f"unix://{DATA_DIR / 'broker.sock'}")
# A planner run holds its job by a lease that a heartbeat renews; a killed worker is noticed when the lease ends.
PLAN_LEASE_SECONDS = seconds("PLAN_LEASE_SECONDS", 30.0)
PLAN_SWEEP_SECONDS = seconds("PLAN_SWEEP_SECONDS", 5.0)
# A queued job whose wake-up is older than this is woken again: the message may have been lost with the broker.
PLAN_REWAKE_SECONDS = seconds("PLAN_REWAKE_SECONDS", 15.0)
PLAN_MAX_ATTEMPTS = 3
# How long the answer to a submission on the page waits for the plan; a longer run is followed on the page.
PLAN_ANSWER_SECONDS = seconds("PLAN_ANSWER_SECONDS", 0.6)

# Signs checkpoints of the audit logs: an Ed25519 private key as PEM text. Only workers need it.
LOG_SIGNING_KEY = env.str("LOG_SIGNING_KEY", default="")
# Where a copy of the newest checkpoint of every log is left for other machines to fetch; a folder, or nowhere.
CHECKPOINT_DIR = env.str("CHECKPOINT_DIR", default="")
CHECKPOINT_SECONDS = seconds("CHECKPOINT_SECONDS", 60.0)
# Public keys of those outside who cosign checkpoints, as they print them; a cosignature of nobody else is kept.
LOG_WITNESSES = env.list("LOG_WITNESSES", default=[])

# A decision in force is called expiring so long before its end.
EXPIRY_NOTICE_DAYS = days("EXPIRY_NOTICE_DAYS", 14)

# A host's identity report counts so long; an older one is refused, and a host without one is waited for.
IDENTITY_FRESH_SECONDS = seconds("IDENTITY_FRESH_SECONDS", 900.0)
# A host that has not reported for so long is forgotten; what its reports changed stays in the log.
IDENTITY_KEEP_DAYS = days("IDENTITY_KEEP_DAYS", 30)

# Email is off until there is a server to hand it to: smtp://, smtp+tls:// or smtp+ssl://user:password@host:port.
EMAIL_IS_ON = bool(env.str("EMAIL_URL", default=""))
_email = mail_server("EMAIL_URL")
EMAIL_BACKEND = "django.core.mail.backends.smtp.EmailBackend"
EMAIL_HOST, EMAIL_PORT = _email.host, _email.port
EMAIL_HOST_USER, EMAIL_HOST_PASSWORD = _email.user, _email.password
EMAIL_USE_TLS, EMAIL_USE_SSL = _email.uses_starttls, _email.uses_tls
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.str("EMAIL_FROM", default="") or f"Topogate <topogate@{PUBLIC.hostname}>"
# Where webhooks may lead: hosts (hooks.example.org, hooks.example.org:8443) and, to try things out, plain loopback
# (http://127.0.0.1:9000). Empty: there are none.
WEBHOOK_HOSTS = frozenset(env.list("WEBHOOK_HOSTS", default=[]))
WEBHOOK_PROXY = http_proxy("WEBHOOK_PROXY")
# What people were told is kept so long; what happened stays in the log.
NOTICE_KEEP_DAYS = days("NOTICE_KEEP_DAYS", 90)
# The hour, UTC, at which daily digests go out.
DIGEST_HOUR = hour("DIGEST_HOUR", 7)

# What production reported: the bytes of batches (0: not kept at all), roll-ups and receipts by the hour, by the day.
OBSERVATION_FILE_DAYS = days("OBSERVATION_FILE_DAYS", 2, least=0)
OBSERVATION_HOURS_DAYS = days("OBSERVATION_HOURS_DAYS", 14, least=2)
OBSERVATION_DAYS_DAYS = days("OBSERVATION_DAYS_DAYS", 400)
# One batch.
OBSERVATION_BYTES = mebibytes("OBSERVATION_MIB", 32) * 2**20

# A draft that nobody touches for so long is deleted.
DRAFT_EXPIRY_DAYS = days("DRAFT_EXPIRY_DAYS", 90)
# All files of one draft of evidence together.
DRAFT_TOTAL_BYTES = mebibytes("DRAFT_TOTAL_MIB", 1024) * 2**20

# An exported bundle is deleted so long after it was written; one that would be larger is not written.
EXPORT_EXPIRY_DAYS = days("EXPORT_EXPIRY_DAYS", 7)
EXPORT_BYTES = mebibytes("EXPORT_MIB", 2048) * 2**20

# Celery has its own word for a Redis server on a unix socket.
CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://", 1)
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
# What an export or a verification may take: a million entries take minutes, and several times that on a busy machine.
LONG_TASK_SECONDS = 3420
CELERY_BROKER_TRANSPORT_OPTIONS = {
    # Longer than the hard time limit, or a long task would be delivered twice. What a dead worker held waits for no
    # delivery: its lease runs out, and a sweep wakes another.
    "visibility_timeout": LONG_TASK_SECONDS + 180,
    "unacked_restore_interval": 5,
    "unacked_restore_throttle": 1,
    "socket_connect_timeout": 1.0,
    "socket_timeout": 2.0,
    "retry_on_timeout": False,
    "max_retries": 0,
}
# Whoever announces a job waits no longer for the broker: the job is committed, and a sweep takes care of it.
WAKE_TRANSPORT_OPTIONS = {"socket_connect_timeout": 0.2, "socket_timeout": 0.2}
CELERY_TASK_DEFAULT_QUEUE = "topogate"
CELERY_TASK_PUBLISH_RETRY = False
CELERY_TASK_SERIALIZER = "json"
CELERY_ACCEPT_CONTENT = ["json"]
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_ACKS_LATE = True
CELERY_TASK_REJECT_ON_WORKER_LOST = True
CELERY_TASK_SOFT_TIME_LIMIT = 240
CELERY_TASK_TIME_LIMIT = 270
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_MAX_TASKS_PER_CHILD = 200
CELERY_WORKER_HIJACK_ROOT_LOGGER = False

# Rate limits and used codes have to be the same for every web process, and outlive a broker: they are rows.
CACHES = {
    "default": {
        "BACKEND": "django.core.cache.backends.db.DatabaseCache",
        "LOCATION": "reviews_cacheentry",
        # Beyond so many, whatever comes first by its name is thrown away, counts that still hold too; 300 by default.
        "OPTIONS": {"MAX_ENTRIES": 10_000},
    },
    "process": {"BACKEND": "django.core.cache.backends.locmem.LocMemCache"},
}

# --- Transport and content ---------------------------------------------------------------------------------------

SECURE_SSL_REDIRECT = HTTPS
SECURE_HSTS_SECONDS = int(timedelta(days=365).total_seconds()) if HTTPS else 0
SECURE_HSTS_INCLUDE_SUBDOMAINS = HTTPS
SECURE_HSTS_PRELOAD = HTTPS
SECURE_REDIRECT_EXEMPT = [r"^health/"]
if switch("BEHIND_PROXY"):
    # Only where a proxy sets the header itself; otherwise anyone could claim to have come by https.
    SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https")
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "base-uri": [NONE],
        "connect-src": [SELF],
        "font-src": [SELF],
        # A browser asks for every stop on the way that a form leads to.
        "form-action": [SELF, *OIDC_FORM_ORIGINS],
        "frame-ancestors": [NONE],
        # Plotly draws heat maps into data: and blob: images.
        "img-src": [SELF, "data:", "blob:"],
        "manifest-src": [SELF],
        "object-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
    }
}

# An attachment of the largest size, or four documents, and room for the rest. A longer body is answered before anything
# of it is stored.
MAX_BODY_BYTES = 4 * MAX_BYTES + 2**20
# Pasted documents are form fields and held in memory; larger ones come as files, which are spooled to disk.
DATA_UPLOAD_MAX_MEMORY_SIZE = 8 * 2**20
FILE_UPLOAD_HANDLERS = [
    "django.core.files.uploadhandler.MemoryFileUploadHandler",
    "config.uploads.UnnamedFileUploadHandler",
]
# As many as a draft of evidence holds.
DATA_UPLOAD_MAX_NUMBER_FILES = 200
# As many as a contract has limits to type on one page, each with its reason.
DATA_UPLOAD_MAX_NUMBER_FIELDS = 2_000

LANGUAGE_CODE = "en"
TIME_ZONE = "UTC"
USE_TZ = True
USE_I18N = False

# --- Static files ------------------------------------------------------------------------------------------------

STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATICFILES_FINDERS = [
    "django.contrib.staticfiles.finders.FileSystemFinder",
    "django.contrib.staticfiles.finders.AppDirectoriesFinder",
    "config.packaged_static.PackagedFilesFinder",
]
# True once collectstatic has run: hashed names, compressed, cached for ever. Before, files come from their places.
STATIC_COLLECTED = switch("STATIC_COLLECTED")
WHITENOISE_USE_FINDERS = not STATIC_COLLECTED
WHITENOISE_ALLOW_ALL_ORIGINS = False
WHITENOISE_AUTOREFRESH = not STATIC_COLLECTED
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.InMemoryStorage"},
    "staticfiles": {
        "BACKEND": (
            "config.static_storage.HashedStaticFilesStorage"
            if STATIC_COLLECTED
            else "django.contrib.staticfiles.storage.StaticFilesStorage"
        )
    },
}

# --- API ---------------------------------------------------------------------------------------------------------

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "reviews.api.authentication.BearerAuthentication",
        "reviews.api.authentication.BrowserAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["reviews.api.permissions.ScopeAllows"],
    "DEFAULT_THROTTLE_CLASSES": ["reviews.api.throttles.ReadThrottle", "reviews.api.throttles.SubmitThrottle"],
    # Per token, else per person, else per address, in each web process.
    "DEFAULT_THROTTLE_RATES": {
        "read": env.str("API_READ_RATE", default="600/min"),
        "submit": env.str("API_SUBMIT_RATE", default="60/min"),
        "observe": env.str("API_OBSERVE_RATE", default="1200/min"),
        "report": env.str("API_REPORT_RATE", default="3000/min"),
    },
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "reviews.api.negotiation.OneRenderer",
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    # Documents arrive as opaque parts; no view takes a body that the framework would parse.
    "DEFAULT_PARSER_CLASSES": ["rest_framework.parsers.MultiPartParser"],
    "DEFAULT_METADATA_CLASS": None,
    "DEFAULT_SCHEMA_CLASS": "drf_spectacular.openapi.AutoSchema",
    "EXCEPTION_HANDLER": "reviews.api.errors.problem_response",
    "UNAUTHENTICATED_USER": None,
}
SPECTACULAR_SETTINGS = {
    "TITLE": "Topogate",
    "DESCRIPTION": "Everything but signing, which is done on the page.",
    "VERSION": "1",
    "OAS_VERSION": "3.1.1",
    "SCHEMA_PATH_PREFIX": r"/api/v1(?:/workspaces/\{workspace\})?",
    "ENUM_NAME_OVERRIDES": {
        "ActivationKind": "reviews.api.serializers.ACTIVATION_KINDS",
        "DecisionState": "reviews.api.serializers.DECISION_STATES",
        "RevisionState": "reviews.api.serializers.REVISION_STATES",
    },
    "SERVE_INCLUDE_SCHEMA": True,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "SWAGGER_UI_SETTINGS": {"deepLinking": True, "validatorUrl": None},
}

# --- Logging -----------------------------------------------------------------------------------------------------

_SHARED_PROCESSORS: list[Processor] = [
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.processors.TimeStamper(fmt="iso", utc=True),
    structlog.processors.StackInfoRenderer(),
    structlog.processors.format_exc_info,
]
LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        # One JSON object a line: a name with a line break in it stays one line.
        "json": {
            "()": structlog.stdlib.ProcessorFormatter,
            "foreign_pre_chain": _SHARED_PROCESSORS,
            "processors": [
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                structlog.processors.JSONRenderer(sort_keys=True),
            ],
        }
    },
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "json"}},
    # What happens to accounts is told whatever the level of the rest.
    "loggers": {"topogate.accounts": {"level": "INFO"}},
    "root": {"handlers": ["console"], "level": env.str("LOG_LEVEL", default="WARNING")},
}
structlog.configure(
    processors=[*_SHARED_PROCESSORS, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
    logger_factory=structlog.stdlib.LoggerFactory(),
    cache_logger_on_first_use=True,
)
