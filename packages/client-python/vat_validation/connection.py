"""Connections of one attempt each. A redirect is never followed."""

from __future__ import annotations

import functools
import http.client
import ssl
import urllib.request
from typing import Any, Optional


class _EarlyAnswer:
    """Reads the answer also when the service stops reading the call, as it does with a file that is too large."""

    def request(self, *args: Any, **more: Any) -> None:
        try:
            super().request(*args, **more)  # type: ignore[misc]
        except (BrokenPipeError, ConnectionResetError):
            # Reading the answer, which is what follows, fails in the same way when there is none. Where there is no connection,
            # such as after a reset handshake of TLS, it would fail because of that.
            sock = getattr(self, "sock", None)
            if sock is None or sock.fileno() == -1:
                raise


class _Connection(_EarlyAnswer, http.client.HTTPConnection):
    pass


class _SecureConnection(_EarlyAnswer, http.client.HTTPSConnection):
    pass


class _Http(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_Connection, req)


class _Https(urllib.request.HTTPSHandler):
    def __init__(self, context: ssl.SSLContext) -> None:
        super().__init__(context=context)
        self._own_context = context

    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(functools.partial(_SecureConnection, context=self._own_context), req)


class _NoRedirects(urllib.request.HTTPRedirectHandler):
    """Following a redirect could carry the API key to another server."""

    def redirect_request(self, *_args: Any, **_more: Any) -> None:
        return None


def open_connections(scheme: str, context: Optional[ssl.SSLContext]) -> urllib.request.OpenerDirector:
    """Opens requests to `http` or `https` URLs, through the proxies of the environment."""
    # Reading the system's certificates takes a while, so only where they are needed.
    secure = [_Https(context or ssl.create_default_context())] if scheme == "https" else []
    return urllib.request.build_opener(_NoRedirects(), _Http(), *secure)
