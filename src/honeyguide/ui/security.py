"""The gate every request passes: Host, token, Origin, and the headers of every answer.

- Host: a page elsewhere can make its own name resolve to 127.0.0.1 (DNS rebinding) and would then speak to
  the portal as to itself; so only loopback's names and those the operator gave are answered.
- Token: once in the address (`?token=`), from then on in a cookie that scripts cannot read and other sites
  cannot send; or as `Authorization: Bearer`, for programs.
- Origin: whatever changes something must come from the portal's own pages. Cookies are shared between the
  ports of a host, so SameSite alone would let another local application in.
"""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
from urllib.parse import parse_qsl, urlencode

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import cookie_parser
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})
_HOST = re.compile(r"(?:\[([0-9a-f:.]+)\]|([^\[\]:]*))(?::[0-9]{1,5})?")
"""A Host header: an IPv6 address in brackets or a name, and a port; nothing may follow the bracket."""
OPEN = frozenset({"/healthz", "/readyz"})
"""Paths that say nothing but whether the portal lives, and so need no token."""
SAFE = frozenset({"GET", "HEAD"})
POLICY = "; ".join(
    (
        "default-src 'none'",
        "script-src 'self'",
        "style-src 'self'",
        "img-src 'self'",
        "connect-src 'self'",
        "form-action 'self'",
        "base-uri 'none'",
        "frame-ancestors 'none'",
        "require-trusted-types-for 'script'",
        "trusted-types 'none'",
    )
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not no-referrer: browsers would then send `Origin: null` with our own forms.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
LOCKED = (
    "401: this portal needs its token. Open the address that `honeyguide serve` printed"
    " (it ends with ?token=...), or send the header `Authorization: Bearer TOKEN`."
)


class Gate:
    """ASGI middleware around the whole application."""

    def __init__(self, app: ASGIApp, *, token: str, hosts: tuple[str, ...] = ()) -> None:
        self._app = app
        self._token = token.encode()
        self._hosts = LOOPBACK | {name.lower() for name in hosts}
        self._any_address = "*" in hosts
        # Cookies are shared between ports: two portals on one machine must not log each other out.
        self.cookie = "honeyguide_" + hashlib.sha256(b"cookie:" + self._token).hexdigest()[:12]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it here."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        answer = None if scope["path"] in OPEN else self._check(scope)
        if answer is not None and scope["path"].startswith("/api/"):
            answer = _as_json(answer)
        await (answer or self._app)(scope, receive, guarded)

    def _check(self, scope: Scope) -> Response | None:
        """An answer of the gate's own, or None to let the request through."""
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        own = origin == f"{scope['scheme']}://{host}"
        if not self._known(host):
            return PlainTextResponse(f"421: {host[:100]!r} is not a name of this portal", status_code=421)
        if origin is not None and not own:
            return PlainTextResponse("403: that request came from another site", status_code=403)
        given = [value for name, value in _query(scope) if name == "token"]
        if given and scope["method"] in SAFE and self._right(given[0]):
            return self._let_in(scope)
        bearer = self._bearer(headers)
        if not bearer and not self._right(cookie_parser(headers.get("cookie", "")).get(self.cookie, "")):
            return PlainTextResponse(
                LOCKED, status_code=401, headers={"WWW-Authenticate": 'Bearer realm="honeyguide"'}
            )
        if scope["method"] not in SAFE and not own and not bearer:
            return PlainTextResponse("403: that request did not come from the portal", status_code=403)
        return None

    def _known(self, host: str) -> bool:
        match = _HOST.fullmatch(host.lower())
        if match is None:
            return False
        name = match[1] or match[2]
        if name in self._hosts:
            return True
        if not self._any_address:
            return False
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True

    def _bearer(self, headers: Headers) -> bool:
        kind, _, value = headers.get("authorization", "").partition(" ")
        return kind.lower() == "bearer" and self._right(value.strip())

    def _right(self, value: str) -> bool:
        return hmac.compare_digest(value.encode("utf-8", "replace"), self._token)

    def _let_in(self, scope: Scope) -> Response:
        """Swap the token in the address for a cookie, so that it stays in no history and no referrer."""
        rest = urlencode([(name, value) for name, value in _query(scope) if name != "token"])
        # More than one slash at the front would name another server.
        path = "/" + scope["path"].lstrip("/\\")
        answer = RedirectResponse(path + ("?" + rest if rest else ""), status_code=303)
        answer.set_cookie(self.cookie, self._token.decode(), httponly=True, samesite="strict", path="/")
        return answer


def _as_json(answer: Response) -> Response:
    """A refusal as the API says it."""
    if answer.status_code < 400:
        return answer
    message = bytes(answer.body).decode().partition(": ")[2]
    headers = {name: value for name, value in answer.headers.items() if name == "www-authenticate"}
    return JSONResponse(
        {"error": {"status": answer.status_code, "message": message}},
        status_code=answer.status_code,
        headers=headers,
    )


def _query(scope: Scope) -> list[tuple[str, str]]:
    try:
        return parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True, max_num_fields=100)
    except ValueError:
        return []
