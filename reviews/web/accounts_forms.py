"""Forms of logging in and confirming: the library's own, with the lock-out in front of every code and password."""

from allauth.account.forms import LoginForm as LibraryLoginForm
from allauth.core import context
from allauth.mfa.base.forms import AuthenticateForm, BaseAuthenticateForm, ReauthenticateForm
from axes.handlers.proxy import AxesProxyHandler
from django import forms
from django.contrib.auth.signals import user_login_failed


class LoginForm(LibraryLoginForm):
    """Login and password; every refusal reads the same."""


class CountedCode(BaseAuthenticateForm):
    """A code that axes counts like a password: what fails closes the login from this address, for both."""

    def clean_code(self) -> str:
        """Check the code unless the login is closed; tell axes of a wrong one."""
        credentials = {"username": self.user.login}
        request = context.request
        if not AxesProxyHandler.is_allowed(request, credentials):
            # What the middleware of axes answers with the page of a closed login.
            request.axes_locked_out = True
            raise forms.ValidationError("This login is closed from here for some minutes.")
        try:
            return str(super().clean_code())
        except forms.ValidationError:
            user_login_failed.send(sender=type(self).__module__, credentials=credentials, request=request)
            raise


class CodeForm(CountedCode, AuthenticateForm):
    """The code after the password."""


class CodeAgainForm(CountedCode, ReauthenticateForm):
    """The code that confirms somebody who is logged in."""
