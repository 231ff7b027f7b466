"""Settings, read from the environment once. Every variable is in .env.example."""

import os
import re
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import dj_database_url
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from django.core.management.utils import get_random_secret_key
from whitenoise.compress import Compressor

import pipelines  # noqa: F401  (before numpy: it decides how many threads that takes)
from config import celery as _celery  # noqa: F401  (what sends a task needs the queue)
from config import language_models, private_files
from config.env import (
    FILES,
    env_bool,
    env_float,
    env_int,
    env_list,
    env_optional_float,
    env_path,
    env_secret,
    env_str,
    mail_settings,
    no_tracing,
)
from config.version import VERSION
from labeling.gold.rules import signatures

BASE_DIR = FILES
DATA_DIR = env_path("ASSAY_DATA_DIR", ".data")
DEBUG = env_bool("ASSAY_DEBUG", False)
no_tracing(os.environ)


def _make_data_folders() -> None:
    try:
        private_files.make_folder(DATA_DIR)
        (DATA_DIR / "static").mkdir(exist_ok=True)
        private_files.close(DATA_DIR)
    except OSError as error:
        raise ImproperlyConfigured(
            f"Cannot write to {DATA_DIR} ({error.strerror}): set ASSAY_DATA_DIR to another folder."
        ) from error


def _stored(name: str, make: Callable[[], str]) -> str:
    """A secret created on first start and kept with the data, so that it survives a restart."""
    path = DATA_DIR / name
    if not path.exists():
        draft = DATA_DIR / f"{name}.{os.getpid()}"
        draft.touch(mode=0o600)  # nobody else reads it, not even for a moment
        draft.write_text(make())
        with suppress(FileExistsError):  # another process was first: all use its key
            os.link(draft, path)
        draft.unlink()
    return path.read_text()


def _gold_key() -> str:
    key = env_secret("ASSAY_GOLD_KEY") or _stored("gold_key", signatures.make_key).strip()
    if not signatures.is_key(key):
        raise ImproperlyConfigured(
            "ASSAY_GOLD_KEY (or the file gold_key of the data folder) is not a key: give it 32 "
            "random bytes in Base64, as `openssl rand -base64 32` prints them."
        )
    return key


def _gold_trusted_keys() -> list[str]:
    """Fingerprints, as pages and ``verify`` print them."""
    fingerprints = [value.lower() for value in env_list("ASSAY_GOLD_TRUSTED_KEYS", [])]
    for value in fingerprints:
        if not re.fullmatch("[0-9a-f]{64}", value):
            raise ImproperlyConfigured(
                f"ASSAY_GOLD_TRUSTED_KEYS has {value!r}: name fingerprints of 64 digits in hex."
            )
    return fingerprints


_make_data_folders()
SECRET_KEY = env_secret("ASSAY_SECRET_KEY") or _stored("secret_key", get_random_secret_key)
# Signs releases of gold; anyone with the fingerprint of its public part can check them.
GOLD_KEY = _gold_key()
GOLD_TRUSTED_KEYS = _gold_trusted_keys()
# The address of this server as others know it: of links in mails and webhooks.
PUBLIC_URL = env_str("ASSAY_PUBLIC_URL").rstrip("/")
if PUBLIC_URL and not PUBLIC_URL.startswith(("http://", "https://")):
    raise ImproperlyConfigured(
        "ASSAY_PUBLIC_URL is not an address: set it to one that starts with http:// or https://."
    )
ALLOWED_HOSTS = env_list("ASSAY_ALLOWED_HOSTS", ["localhost", "127.0.0.1", "[::1]"])
CSRF_TRUSTED_ORIGINS = env_list("ASSAY_TRUSTED_ORIGINS", [])

INSTALLED_APPS = [
    "labeling",
    "evaluation",
    "labeling.apps.AssayAdminConfig",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.humanize",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "csp",
    "django_htmx",
    "rest_framework",
    "drf_spectacular",
    "drf_spectacular_sidecar",
]

MIDDLEWARE = [
    "config.middleware.numbered",
    "config.middleware.refuse_nul",
    "django.middleware.security.SecurityMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.locale.LocaleMiddleware",  # the person's choice, else the browser's
    "labeling.core.views.errors.limited",
    "config.middleware.WithSlash",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "config.middleware.SignedIn",  # deny by default
    "django.contrib.messages.middleware.MessageMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "labeling.gold.views.looks.asks_why",  # test items are shown for a reason
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
                "labeling.core.views.context.roles",
            ],
        },
    },
]

SQLITE_OPTIONS = {
    # Seconds to wait for other writers, which are served in no order.
    "timeout": 40,
    "transaction_mode": "IMMEDIATE",  # a deferred transaction that turns writer fails at once
    # REPLACE deletes a row; only with recursive triggers do the guards of deletes see it
    "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL;"
    " PRAGMA recursive_triggers=ON;",
}
POSTGRES_OPTIONS = {
    "connect_timeout": 5,  # seconds
    "keepalives_idle": 10,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 25_000,  # ms
}
_database = dj_database_url.parse(
    env_secret("DATABASE_URL") or f"sqlite:///{DATA_DIR / 'assay.sqlite3'}"
)
if _database["ENGINE"].endswith("sqlite3"):
    if Path(_database["NAME"]).parent == DATA_DIR:
        Path(_database["NAME"]).touch(mode=private_files.FILE)  # its log takes the same rights
        private_files.close(DATA_DIR, Path(_database["NAME"]).name)
    _database["OPTIONS"] = SQLITE_OPTIONS
    # Opening it for each request costs as much as saving an answer: functions, pragmas, the schema.
    _database["CONN_MAX_AGE"] = 60
    # A file, not memory: tests use threads, a live server and worker processes.
    _database["TEST"] = {"NAME": str(DATA_DIR / "test.sqlite3")}
elif _database["ENGINE"].endswith("postgresql"):
    _database["CONN_HEALTH_CHECKS"] = True
    # One that is gone without a word is noticed within half a minute, also while it is waited for.
    _database["OPTIONS"] = POSTGRES_OPTIONS | _database.get("OPTIONS", {})
    _database["CONN_MAX_AGE"] = 60
else:
    raise ImproperlyConfigured("DATABASE_URL must start with sqlite:/// or postgres://.")
DATABASES = {"default": _database}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

AUTH_PASSWORD_VALIDATORS = [
    {"NAME": f"django.contrib.auth.password_validation.{name}"}
    for name in (
        "UserAttributeSimilarityValidator",
        "MinimumLengthValidator",
        "CommonPasswordValidator",
        "NumericPasswordValidator",
    )
]
LOGIN_URL = "sign-in"
LOGIN_REDIRECT_URL = "home"
LOGOUT_REDIRECT_URL = "sign-in"

PASSWORD_RESET_TIMEOUT = 24 * 3600  # seconds that a link for a new password works

LANGUAGE_CODE = "en-gb"
LANGUAGES = [("en-gb", "English"), ("de", "Deutsch")]
LOCALE_PATHS = [BASE_DIR / "locale"]
TIME_ZONE = env_str("ASSAY_TIME_ZONE", "UTC")
USE_I18N = True
USE_TZ = True

STATIC_URL = "static/"
STATICFILES_DIRS = [BASE_DIR / "static"]
STATIC_ROOT = DATA_DIR / "static"
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {"BACKEND": "config.assets.BuiltFiles"},
}
# With ASSAY_DEBUG the sources are served as they are, else what collectstatic has built of them.
WHITENOISE_USE_FINDERS = WHITENOISE_AUTOREFRESH = DEBUG
WHITENOISE_KEEP_ONLY_HASHED_FILES = True
# Only developers ask for these, seldom, and to compress them takes half of the time of a build.
WHITENOISE_SKIP_COMPRESS_EXTENSIONS = [*Compressor.SKIP_COMPRESS_EXTENSIONS, "map", "md"]

HTTPS = env_bool("ASSAY_HTTPS", PUBLIC_URL.startswith("https://"))
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = SECURE_SSL_REDIRECT = HTTPS
# A load balancer and "make serve" ask by plain HTTP, and hear nothing that others may not.
SECURE_REDIRECT_EXEMPT = ["^healthz$", "^readyz$", "^metrics$"]
SECURE_HSTS_SECONDS = env_int("ASSAY_HSTS_SECONDS", 31_536_000, minimum=0) if HTTPS else 0
# Without HTTPS one check of ours says so, and what to do.
SILENCED_SYSTEM_CHECKS = [] if HTTPS else [f"security.W{n}" for n in ("004", "008", "012", "016")]
# How many proxies in front add to X-Forwarded-For the address that they were called from.
PROXIES = env_int("ASSAY_PROXIES", 1 if HTTPS else 0, minimum=0)
# Whether the accounts of the demo open from other machines: everybody knows their passwords.
DEMO_EVERYWHERE = env_bool("ASSAY_DEMO_EVERYWHERE", False)
LANGUAGE_COOKIE_SECURE = SESSION_COOKIE_SECURE
LANGUAGE_COOKIE_HTTPONLY = True
LANGUAGE_COOKIE_SAMESITE = "Lax"
LANGUAGE_COOKIE_AGE = 365 * 24 * 3600
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if HTTPS else None
CSRF_FAILURE_VIEW = "labeling.core.views.errors.csrf_failure"
# Who sends it reads at /readyz what is missing, and /metrics; without it only this machine does.
HEALTH_KEY = env_secret("ASSAY_HEALTH_KEY") or ""
SECURE_REFERRER_POLICY = "same-origin"
X_FRAME_OPTIONS = "DENY"
DATA_UPLOAD_MAX_MEMORY_SIZE = env_int("ASSAY_MAX_REQUEST_BYTES", 10 * 1024 * 1024, minimum=1024)

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [SELF],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "object-src": [NONE],
        "base-uri": [NONE],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
    }
}

REST_FRAMEWORK = {
    "DEFAULT_AUTHENTICATION_CLASSES": [
        "labeling.core.api.authentication.TokenAuthentication",
        "rest_framework.authentication.SessionAuthentication",
    ],
    "DEFAULT_PERMISSION_CLASSES": ["rest_framework.permissions.IsAuthenticated"],
    "DEFAULT_RENDERER_CLASSES": ["rest_framework.renderers.JSONRenderer"],
    "DEFAULT_PARSER_CLASSES": ["labeling.core.api.parsing.ShallowJSONParser"],
    "UNICODE_JSON": False,  # half of a surrogate pair, quoted in an error, has no UTF-8
    "DEFAULT_SCHEMA_CLASS": "labeling.core.api.operations.Operation",
    "DEFAULT_CONTENT_NEGOTIATION_CLASS": "labeling.core.api.negotiation.OneForm",
    "EXCEPTION_HANDLER": "labeling.core.api.errors.handle",
    "UNAUTHENTICATED_USER": "django.contrib.auth.models.AnonymousUser",
}
SPECTACULAR_SETTINGS = {
    "PREPROCESSING_HOOKS": ["labeling.core.api.documentation.describe"],
    "POSTPROCESSING_HOOKS": ["labeling.core.api.documentation.add_failures"],
    "TITLE": "Assay",
    "VERSION": VERSION,
    "SERVE_INCLUDE_SCHEMA": False,
    "SWAGGER_UI_DIST": "SIDECAR",
    "SWAGGER_UI_FAVICON_HREF": "SIDECAR",
    "REDOC_DIST": "SIDECAR",
    "SERVE_PERMISSIONS": ["rest_framework.permissions.IsAuthenticated"],
}

CELERY_BROKER_URL = env_str("CELERY_BROKER_URL", "filesystem://")
# How long one worker may hold a case without a sign of life before another takes it over.
CASE_LEASE_SECONDS = env_int("ASSAY_CASE_LEASE_SECONDS", 120, minimum=5)
# How long one case may take in all, its waiting for a language model included.
CASE_TIMEOUT_SECONDS = env_float("ASSAY_CASE_TIMEOUT_SECONDS", 900.0, minimum=1)
# How many cases of one run are worked on at a time, unless the run says otherwise.
MAX_OUTPUT_MB = env_int("ASSAY_MAX_OUTPUT_MB", 10, minimum=1)
MAX_CACHE_MB = env_int("ASSAY_MAX_CACHE_MB", 1024, minimum=1)
RUN_CONCURRENCY = env_int("ASSAY_RUN_CONCURRENCY", 4, minimum=1)
# Whether runs, suggestions and memory builds are worked on in processes that can be ended.
CASE_PROCESSES = env_bool("ASSAY_CASE_PROCESSES", True)
# How long a conversation taken from the pool stays reserved for one annotator.
ASSIGNMENT_LEASE_MINUTES = env_int("ASSAY_ASSIGNMENT_LEASE_MINUTES", 24 * 60, minimum=1)
# Who creates projects: "leads" (staff, those who lead a project or may add one) or only "staff".
PROJECT_CREATORS = env_str("ASSAY_PROJECT_CREATORS", "leads")
# Whether webhooks reach private networks.
WEBHOOK_ALLOW_PRIVATE = env_bool("ASSAY_WEBHOOK_ALLOW_PRIVATE", DEBUG)
# Which published chats are for training and which are kept back, by the number in the file's name.
CHAT_SPLITS = {
    "train": env_str("ASSAY_TRAIN_CHATS", "1-7"),
    "dev": env_str("ASSAY_DEV_CHATS", ""),
    "test": env_str("ASSAY_TEST_CHATS", "8-10"),
}

# A language model behind any server of the OpenAI protocol; without LLM_MODEL there is none.
LLM_MODEL = env_str("LLM_MODEL")
LLM_BASE_URL = env_str("LLM_BASE_URL")
LLM_API_KEY = env_secret("LLM_API_KEY")
LLM_PROVIDER = env_str("LLM_PROVIDER")
LLM_TEMPERATURE = (
    None if env_str("LLM_TEMPERATURE") == "server" else env_optional_float("LLM_TEMPERATURE")
)
LLM_REASONING_EFFORT = env_str("LLM_REASONING_EFFORT")
LLM_MAX_TOKENS = env_int("LLM_MAX_TOKENS", 16_000, minimum=1)
LLM_CONTEXT_TOKENS = env_int("LLM_CONTEXT_TOKENS", 128_000, minimum=1)
LLM_TIMEOUT_SECONDS = env_float("LLM_TIMEOUT_SECONDS", 600.0, minimum=0.1)
LLM_MAX_REPLY_MB = env_int("LLM_MAX_REPLY_MB", 4, minimum=1)
LLM_MAX_CONCURRENCY = env_int("LLM_MAX_CONCURRENCY", 16, minimum=1)
LLM_INPUT_PRICE = env_optional_float("LLM_INPUT_PRICE")
LLM_CACHED_PRICE = env_optional_float("LLM_CACHED_PRICE")
LLM_OUTPUT_PRICE = env_optional_float("LLM_OUTPUT_PRICE")
LLM_CURRENCY = env_str("LLM_CURRENCY", "USD")
# The model that judges answers, where it is to be another one than LLM_MODEL.
JUDGE_MODEL = env_str("JUDGE_MODEL")
JUDGE_BASE_URL = env_str("JUDGE_BASE_URL")
JUDGE_API_KEY = env_secret("JUDGE_API_KEY")
JUDGE_INPUT_PRICE = env_optional_float("JUDGE_INPUT_PRICE")
JUDGE_OUTPUT_PRICE = env_optional_float("JUDGE_OUTPUT_PRICE")
# Further models by name, of the file that ASSAY_MODELS names.
MODELS = language_models.declared()
for _name, _address in (("LLM_BASE_URL", LLM_BASE_URL), ("JUDGE_BASE_URL", JUDGE_BASE_URL)):
    if _address and not _address.startswith(("http://", "https://")):
        raise ImproperlyConfigured(
            f"{_name} is not an address: set it to one that starts with http:// or https://."
        )

if PROJECT_CREATORS not in ("leads", "staff"):
    raise ImproperlyConfigured("ASSAY_PROJECT_CREATORS is neither leads nor staff: set it to one.")

# Mail, for links to a new password: smtp://, smtp+tls:// (STARTTLS) or smtps:// (TLS at once).
MAIL_URL = env_secret("ASSAY_MAIL_URL") or ""
DEFAULT_FROM_EMAIL = env_str("ASSAY_MAIL_FROM", "assay@localhost")
globals().update(mail_settings(MAIL_URL))
EMAIL_TIMEOUT = 20  # seconds

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"()": "config.logs.KeylessFormatter"}},
    "filters": {"brief": {"()": "config.logs.BriefOutages"}},
    "handlers": {
        "console": {
            "class": "logging.StreamHandler",
            "formatter": "line",
            "filters": ["brief"],
        }
    },
    "loggers": {
        # they report each load of the encoder, and that the file queue has no host
        "sentence_transformers": {"level": "WARNING"},
        "kombu.connection": {"level": "ERROR"},
        # a line for each request to the language model
        "httpx": {"level": "WARNING"},
        "httpx2": {"level": "WARNING"},
        # at DEBUG these quote whole requests
        "openai": {"level": "INFO"},
    },
    "root": {"handlers": ["console"], "level": env_str("ASSAY_LOG_LEVEL", "INFO")},
}
