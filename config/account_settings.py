"""Settings of people, sessions, logins, second factors and their limits; ``config.settings`` takes all of them over.

Not handled: who may do what, which is no setting (``reviews.policies``).
"""

from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import ImproperlyConfigured

from config.environment import HTTPS, PUBLIC, env, seconds, switch

AUTH_USER_MODEL = "reviews.Person"
AUTHENTICATION_BACKENDS = [
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 10}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
LOGIN_URL = "/login"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = "/login"
SESSION_COOKIE_AGE = int(timedelta(hours=12).total_seconds())
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = HTTPS
SESSION_COOKIE_NAME = "__Host-session" if HTTPS else "session"
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SAMESITE = "Strict"
CSRF_COOKIE_SECURE = HTTPS
CSRF_COOKIE_NAME = "__Host-csrf" if HTTPS else "csrf"
CSRF_FAILURE_VIEW = "reviews.web.frame.form_too_old"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"

ACCOUNT_ADAPTER = "reviews.web.accounts_adapters.AccountAdapter"
ACCOUNT_USER_MODEL_USERNAME_FIELD = "login"
ACCOUNT_LOGIN_METHODS = {"username"}
ACCOUNT_SIGNUP_FIELDS = ["username*", "password1*"]
# Nobody signs up: an administrator invites people.
ACCOUNT_SIGNUP_ENABLED = False
ACCOUNT_EMAIL_VERIFICATION = "none"
ACCOUNT_SESSION_REMEMBER = True
ACCOUNT_PRESERVE_USERNAME_CASING = True
ACCOUNT_REAUTHENTICATION_REQUIRED = True
ACCOUNT_REAUTHENTICATION_TIMEOUT = int(timedelta(minutes=5).total_seconds())
ACCOUNT_FORMS = {"login": "reviews.web.accounts_forms.LoginForm"}
ACCOUNT_RATE_LIMITS = {
    # Requests, whether they succeed or not. What fails is counted by axes, per login and address (below).
    "login": "30/m/ip",
    "reauthenticate": "20/m/user",
    "change_password": "5/m/user",
    # Codes alone, per account: changing the address does not buy more guesses. Passwords are not counted here.
    "login_failed": "20/5m/key",
}
MFA_ADAPTER = "reviews.web.accounts_adapters.SecondFactorAdapter"
MFA_SUPPORTED_TYPES = ["totp", "webauthn", "recovery_codes"]
MFA_FORMS = {
    "authenticate": "reviews.web.accounts_forms.CodeForm",
    "reauthenticate": "reviews.web.accounts_forms.CodeAgainForm",
}
MFA_PASSKEY_LOGIN_ENABLED = True
# A passkey replaces password and code, so its holder has to unlock it.
MFA_WEBAUTHN_USER_VERIFICATION = "required"
MFA_RECOVERY_CODES_SHOW_ONCE = True
MFA_TOTP_ISSUER = f"Topogate {PUBLIC.netloc}"
MFA_TOTP_TOLERANCE = 1
# A password is not enough for signing, in no workspace.
SIGNING_SECOND_FACTOR = switch("SIGNING_SECOND_FACTOR")
INVITATION_HOURS = seconds("INVITATION_HOURS", 72.0)

# One provider of OpenID Connect, off unless its address is set. It lets in people who linked it to their account.
OIDC_ISSUER_URL = env.str("OIDC_ISSUER_URL", default="").rstrip("/")
OIDC_NAME = env.str("OIDC_NAME", default="single sign-on")
SOCIALACCOUNT_ADAPTER = "reviews.web.accounts_adapters.OtherLoginAdapter"
SOCIALACCOUNT_OPENID_CONNECT_URL_PREFIX = ""
OIDC_FORM_ORIGINS: list[str] = []
SOCIALACCOUNT_PROVIDERS: dict[str, dict[str, Any]] = {}
if OIDC_ISSUER_URL:
    _issuer = urlsplit(OIDC_ISSUER_URL)
    OIDC_FORM_ORIGINS = env.list("OIDC_FORM_ORIGINS", default=[f"{_issuer.scheme}://{_issuer.netloc}"])
    if _issuer.scheme != "https" and _issuer.hostname not in ("localhost", "127.0.0.1"):
        raise ImproperlyConfigured(f"OIDC_ISSUER_URL: expected https://host, found {OIDC_ISSUER_URL!r}")
    SOCIALACCOUNT_PROVIDERS["openid_connect"] = {
        "APPS": [
            {
                "provider_id": "oidc",
                "name": OIDC_NAME,
                "client_id": env.str("OIDC_CLIENT_ID"),
                "secret": env.str("OIDC_CLIENT_SECRET"),
                "settings": {"server_url": OIDC_ISSUER_URL, "oauth_pkce_enabled": True, "fetch_userinfo": False},
            }
        ]
    }

AXES_FAILURE_LIMIT = 10
AXES_COOLOFF_TIME = timedelta(minutes=5)
# What Django calls a login when it tells of a failed one; by default the model's own word is taken, and every failure
# would be counted under no name.
AXES_USERNAME_FORM_FIELD = "username"
AXES_LOCKOUT_CALLABLE = "reviews.web.people.locked_out"
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_DISABLE_ACCESS_LOG = True
