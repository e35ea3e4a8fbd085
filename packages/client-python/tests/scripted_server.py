"""A local HTTP server whose answers a test writes down, and a clock that waits at once."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, Dict, List, Optional, Sequence, Tuple, Type, Union
from urllib.parse import parse_qsl, urlsplit

from vat_validation.clock import Clock


class FakeClock(Clock):
    """A clock that only `sleep` moves."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.sleeps: List[float] = []

    def monotonic(self) -> float:
        return self.now

    def time(self) -> float:
        return 1_795_166_044.0 + self.now

    def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        self.now += seconds


class Call:
    """A call that the server received."""

    def __init__(self, method: str, target: str, headers: Dict[str, str], body: bytes) -> None:
        parts = urlsplit(target)
        self.method = method
        self.path = parts.path
        self.query = dict(parse_qsl(parts.query, keep_blank_values=True))
        self.headers = headers
        self.body = body


#: Status, JSON body (or bytes), headers.
Reply = Tuple[int, Any, Dict[str, str]]
#: No answer at all: the connection ends at once, after half of an answer, or stays silent.
BROKEN = "broken"
HALF = "half"
SILENT = "silent"
#: 413 before the body of the call is read, which it never is.
EARLY = "early"


def reply(status: int, body: Any = None, headers: Optional[Dict[str, str]] = None) -> Reply:
    return status, body, headers or {}


class ScriptedServer:
    """Answers one call after the other as written down; a further call is answered 599."""

    def __init__(self, replies: Sequence[Union[Reply, str]]) -> None:
        self.calls: List[Call] = []
        self._replies = list(replies)
        self._ended = threading.Event()
        script = self

        class Handler(BaseHTTPRequestHandler):
            def handle_any(self) -> None:
                if script._replies[:1] == [EARLY]:
                    script._replies[0] = reply(413, {"error": {"code": "FILE_TOO_LARGE", "message": "too large"}})
                    self.headers.replace_header("Content-Length", "0")
                    self.close_connection = True
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                script.calls.append(Call(self.command, self.path, headers, body))
                script._answer(self)

            do_GET = do_POST = do_PATCH = do_DELETE = handle_any

            def log_message(self, *_args: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def _answer(self, handler: BaseHTTPRequestHandler) -> None:
        answer = self._replies.pop(0) if self._replies else reply(599)
        if answer == BROKEN:
            handler.close_connection = True
            return
        if answer == SILENT:
            self._ended.wait(10)
            return
        status, body, headers = reply(200, {"data": []}) if isinstance(answer, str) else answer
        content = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        handler.send_response(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(content) + (5 if answer == HALF else 0)))
        handler.end_headers()
        handler.wfile.write(content)

    def __enter__(self) -> "ScriptedServer":
        self._thread.start()
        return self

    def __exit__(
        self,
        _type: Optional[Type[BaseException]],
        _value: Optional[BaseException],
        _traceback: Optional[TracebackType],
    ) -> None:
        self._ended.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
