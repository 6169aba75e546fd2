"""A small provider of OpenID Connect in a process of its own: discovery, authorisation with PKCE, token, key set.

It keeps the rules of the code flow that a client may break: the redirect address is the registered one, a code works
once, its verifier fits its challenge, the client shows its secret. Who logs in, and what is wrong with the token that
is given out, are said in the address of the authorisation, which a test plays the browser of.

    python -m tests.web.oidc_provider PORT REDIRECT_URI
"""

import base64
import hashlib
import json
import secrets
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from cryptography.hazmat.primitives.asymmetric import rsa
from jwt.algorithms import RSAAlgorithm

CLIENT_ID = "topogate"
CLIENT_SECRET = "a-secret-of-the-tests"
KEY = rsa.generate_private_key(public_exponent=65537, key_size=2048)
CODES: dict[str, dict[str, str]] = {}


class Provider(BaseHTTPRequestHandler):
    """Answers as a provider does."""

    issuer = ""
    redirect_uri = ""

    def do_GET(self) -> None:
        """Discovery, keys, and the authorisation, which asks nobody."""
        place = urlsplit(self.path)
        asked = {name: values[0] for name, values in parse_qs(place.query).items()}
        if place.path == "/.well-known/openid-configuration":
            self.answer(200, self.discovery())
        elif place.path == "/keys":
            key = json.loads(RSAAlgorithm.to_jwk(KEY.public_key()))
            self.answer(200, {"keys": [{**key, "kid": "one", "alg": "RS256", "use": "sig"}]})
        elif place.path == "/authorize":
            self.authorize(asked)
        else:
            self.answer(404, {})

    def discovery(self) -> dict[str, Any]:
        """Say where everything is."""
        return {
            "issuer": self.issuer,
            "authorization_endpoint": f"{self.issuer}/authorize",
            "token_endpoint": f"{self.issuer}/token",
            "jwks_uri": f"{self.issuer}/keys",
            "token_endpoint_auth_methods_supported": ["client_secret_basic"],
        }

    def authorize(self, asked: dict[str, str]) -> None:
        """Log ``login_as`` in and give out a code, or refuse when nobody is named."""
        if asked.get("redirect_uri") != self.redirect_uri or asked.get("client_id") != CLIENT_ID:
            return self.answer(400, {"error": "invalid_request"})
        back = {"state": asked["state"]}
        if "login_as" in asked:
            code = secrets.token_urlsafe(16)
            CODES[code] = asked
            back["code"] = code
        else:
            back["error"] = "access_denied"
        self.send_response(302)
        self.send_header("Location", f"{self.redirect_uri}?{urlencode(back)}")
        self.end_headers()
        return None

    def do_POST(self) -> None:
        """Give out a token for a code, once."""
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        given = {name: values[0] for name, values in parse_qs(body).items()}
        shown = self.headers.get("Authorization", "").removeprefix("Basic ")
        asked = CODES.pop(given.get("code", ""), None)
        challenge = base64.urlsafe_b64encode(hashlib.sha256(given.get("code_verifier", "").encode()).digest())
        if base64.b64decode(shown).decode() != f"{CLIENT_ID}:{CLIENT_SECRET}":
            return self.answer(401, {"error": "invalid_client"})
        if asked is None or challenge.decode().rstrip("=") != asked.get("code_challenge"):
            return self.answer(400, {"error": "invalid_grant"})
        return self.answer(200, {"access_token": "opaque", "token_type": "Bearer", "id_token": self.token(asked)})

    def token(self, asked: dict[str, str]) -> str:
        """Make the token, wrong in the way that was asked for."""
        now = int(time.time())
        said = {
            "iss": "https://other.example" if asked.get("wrong") == "issuer" else self.issuer,
            "aud": "somebody-else" if asked.get("wrong") == "audience" else CLIENT_ID,
            "sub": asked["login_as"],
            "iat": now,
            "exp": now - 3600 if asked.get("wrong") == "time" else now + 300,
        }
        return jwt.encode(said, KEY, algorithm="RS256", headers={"kid": "one"})

    def answer(self, status: int, body: dict[str, Any]) -> None:
        """Send JSON."""
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


if __name__ == "__main__":
    Provider.issuer = f"http://127.0.0.1:{sys.argv[1]}"
    Provider.redirect_uri = sys.argv[2]
    ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Provider).serve_forever()
