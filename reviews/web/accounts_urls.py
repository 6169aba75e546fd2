"""Addresses of accounts: logging in, confirming, one's own account. Names that the library looks up are its own."""

from allauth.mfa.recovery_codes import views as recovery_codes
from allauth.mfa.totp import views as totp
from allauth.mfa.webauthn import views as webauthn
from allauth.socialaccount.providers.openid_connect import views as openid_connect
from django.urls import URLPattern, path

from reviews.web import accounts, accounts_factors, accounts_invitations, accounts_log, accounts_own
from reviews.web.accounts_recorded import recorded
from reviews.web.frame import page

OPEN: list[URLPattern] = [
    path("login", accounts.Login.as_view(), name="account_login"),
    path("login/second-factor", accounts.SecondFactor.as_view(), name="mfa_authenticate"),
    path("login/passkey", webauthn.login_webauthn, name="mfa_login_webauthn"),
    path("login/<slug:provider_id>/", openid_connect.login, name="openid_connect_login"),
    path(
        "login/<slug:provider_id>/back",
        recorded(openid_connect.callback, late_on="GET"),
        name="openid_connect_callback",
    ),
    path("join/<str:secret>", accounts_invitations.join, name="join"),
]
"""For everybody: the ways in."""

OWN: list[URLPattern] = [
    path("account/", accounts_own.account, name="account"),
    path("account/sessions/<int:session>/end", accounts_own.session_end, name="session-end"),
    path("account/sessions/end-others", accounts_own.other_sessions_end, name="sessions-end"),
    path("account/password", page(recorded(accounts.PasswordChange.as_view())), name="account_change_password"),
    path("account/first-password", page(recorded(accounts.PasswordSet.as_view())), name="account_set_password"),
    path(
        "account/confirm",
        page(recorded(accounts.ConfirmByPassword.as_view(), late_on="POST")),
        name="account_reauthenticate",
    ),
    path(
        "account/confirm/code",
        page(recorded(accounts.ConfirmByCode.as_view(), late_on="POST")),
        name="mfa_reauthenticate",
    ),
    path(
        "account/confirm/passkey",
        page(recorded(accounts.ConfirmByPasskey.as_view(), late_on="POST")),
        name="mfa_reauthenticate_webauthn",
    ),
    path("account/factors", accounts_factors.factors, name="mfa_index"),
    path("account/factors/app", page(recorded(accounts_factors.AppAdd.as_view())), name="mfa_activate_totp"),
    path("account/factors/app/picture", accounts_factors.app_picture, name="app-picture"),
    path("account/factors/app/remove", page(recorded(totp.deactivate_totp)), name="mfa_deactivate_totp"),
    path("account/factors/passkeys", accounts_factors.factors, name="mfa_list_webauthn"),
    path(
        "account/factors/passkeys/add", page(recorded(accounts_factors.PasskeyAdd.as_view())), name="mfa_add_webauthn"
    ),
    path(
        "account/factors/passkeys/<int:pk>/remove", page(recorded(webauthn.remove_webauthn)), name="mfa_remove_webauthn"
    ),
    path(
        "account/factors/recovery-codes", page(accounts_factors.RecoveryCodes.as_view()), name="mfa_view_recovery_codes"
    ),
    path(
        "account/factors/recovery-codes/make",
        page(recorded(recovery_codes.generate_recovery_codes)),
        name="mfa_generate_recovery_codes",
    ),
    path("account/other-login/unlink", accounts_own.other_login_unlink, name="other-login-unlink"),
]
"""For whoever is logged in, about themselves."""

urlpatterns = [*OPEN, *OWN]
LOGGED_BY = accounts_log.__name__
"""Imported with the addresses, so that no login goes unlogged."""
