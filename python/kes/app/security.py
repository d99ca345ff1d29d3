"""Access control: only a browser that was given the address may talk to the server.

Every request passes these checks in turn:

* ``Host`` must be the server's own address, or another site could make a browser resolve its name
  to this machine (DNS rebinding).
* A request that another site or another port causes is refused, by ``Sec-Fetch-Site`` and, where
  something changes, by ``Origin``.
* The address that is printed contains a token. It is exchanged for a cookie that scripts cannot
  read and that browsers send with requests of this page only.

Every response forbids what the page does not need: scripts and frames from elsewhere, inline
scripts, sniffing of types, caching, referrers.
"""

from __future__ import annotations

import hmac
import secrets
from http.cookies import CookieError, SimpleCookie
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SAFE = ("GET", "HEAD")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
EMBEDDED = "sandbox allow-scripts allow-downloads allow-modals; frame-ancestors 'self'"
"""The policy of a report: it runs its own scripts, apart from the page and without its cookie."""

_HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-store",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}


def new_token() -> str:
    """Return a secret that cannot be guessed."""
    return secrets.token_urlsafe(32)


class Gate:
    """Refuses requests that do not come from the page, and restricts what responses may do."""

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self._app = app
        self._token = token
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost")}
        self._cookie = f"kes-{port}"  # cookies are shared by all ports of a machine

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            await send({"type": "websocket.close", "code": 1008})
            return

        async def restricted(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        answer = self._answer(scope)
        await (answer or self._app)(scope, receive, restricted)

    def _answer(self, scope: Scope) -> Response | None:
        """Return the refusal or redirection of a request; None if it may pass."""
        headers, is_safe = Headers(scope=scope), scope["method"] in SAFE
        host = headers.get("host", "")
        if host not in self._hosts:
            return _refusal(421, "This server answers to its own address only.")
        site = headers.get("sec-fetch-site", "none" if is_safe else "same-origin")
        is_entry = is_safe and scope["path"] == "/"
        if site not in ("same-origin", "none") and not is_entry:
            return _refusal(403, "Requests from other sites are refused.")
        origin = headers.get("origin")
        if origin != f"http://{host}" and not (is_safe and origin is None):
            return _refusal(403, "Requests from other sites are refused.")
        if is_entry and (given := parse_qs(scope["query_string"].decode("latin-1")).get("token")):
            return self._entered(given[0], is_typed=site == "none")
        if not self._same(_cookie(headers, self._cookie)):
            return _refusal(
                403, "Open the address that kes app printed in the terminal: it contains the key."
            )
        return None

    def _entered(self, given: str, *, is_typed: bool) -> Response:
        """Exchange the token for a cookie, which also takes it out of the address bar.

        A browser that comes from a file would not send the cookie after a redirection; it does when
        a page of the server leads on.
        """
        if not self._same(given):
            return _refusal(
                403, "This address is outdated: each start of kes app prints a new one."
            )
        answer: Response = RedirectResponse("/", status_code=303)
        if not is_typed:
            answer = HTMLResponse('<meta http-equiv="refresh" content="0; url=/">')
        answer.set_cookie(self._cookie, self._token, httponly=True, samesite="strict", path="/")
        return answer

    def _same(self, given: str) -> bool:
        return hmac.compare_digest(given.encode("utf-8", "replace"), self._token.encode())


def _cookie(headers: Headers, name: str) -> str:
    try:
        found = SimpleCookie(headers.get("cookie", "")).get(name)
    except CookieError:
        found = None
    return found.value if found else ""


def _refusal(status: int, why: str) -> Response:
    return PlainTextResponse(f"{why}\n", status_code=status)
