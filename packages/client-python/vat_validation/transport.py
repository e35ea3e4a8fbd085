"""Calls of the API: one attempt over HTTP, and the attempts of one call."""

from __future__ import annotations

import http.client
import json
import random
import ssl
import urllib.error
import urllib.parse
import urllib.request
import uuid
from dataclasses import dataclass, replace
from typing import Any, Dict, Mapping, Optional, Union

from .clock import Clock
from .connection import open_connections
from .errors import NoAnswerError, UnexpectedAnswerError, VatError, api_error
from .retry import RetryPolicy, outcome_unknown, retry_delay
from .version import VERSION

# A results file is smaller than 64 MiB; without a bound, a wrong address could fill the memory. A dossier can be larger.
MAX_BYTES = 64 * 1024 * 1024
_CHUNK = 64 * 1024

Query = Mapping[str, Union[str, int, bool, None]]


@dataclass(frozen=True)
class Answer:
    """A complete answer. Names of headers are in lower case."""

    status: int
    reason: str
    headers: Mapping[str, str]
    content: bytes
    request_id: str

    def file(self) -> bytes:
        """The body as a file of this API. Raises :class:`UnexpectedAnswerError` for HTML, which is the page of a proxy."""
        if self.headers.get("content-type", "").lower().startswith("text/html"):
            message = f"the answer with status {self.status} is a page of HTML; is the base URL that of the service?"
            raise UnexpectedAnswerError(message, status=self.status, request_id=self.request_id)
        return self.content

    def json(self) -> Any:
        """The body as JSON. Raises :class:`UnexpectedAnswerError`."""
        try:
            return json.loads(self.content)
        except ValueError as error:
            message = f"the answer with status {self.status} is not JSON; is the base URL that of the service?"
            raise UnexpectedAnswerError(message, status=self.status, request_id=self.request_id) from error

    def object(self, *fields: str) -> Dict[str, Any]:
        """The body as a JSON object that has these fields. Raises :class:`UnexpectedAnswerError`."""
        value = self.json()
        missing = [field for field in fields if field not in value] if isinstance(value, dict) else None
        if missing == []:
            return value
        lack = f"has no {', '.join(missing)}" if missing else "is not a JSON object"
        message = f"the answer with status {self.status} {lack}; is the base URL that of the service?"
        raise UnexpectedAnswerError(message, status=self.status, request_id=self.request_id)


class Transport:
    """Sends calls and retries them by the policy. Safe for several threads: each attempt has its own connection."""

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        timeout: float,
        retry: RetryPolicy,
        clock: Clock,
        ssl_context: Optional[ssl.SSLContext],
        user_agent: str,
    ) -> None:
        parts = urllib.parse.urlsplit(base_url)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.fragment:
            raise ValueError("base_url must be an http or https URL such as https://vat.example.com")
        if not api_key or not api_key.isascii() or not api_key.isprintable() or " " in api_key:
            raise ValueError("api_key must be a key of the service, which begins with vat_live_ or vat_test_")
        # Also as the documents write the address of the API.
        self._base_url = base_url.rstrip("/").removesuffix("/v1")
        self._api_key = api_key
        self.timeout = timeout
        self._retry = retry
        self.clock = clock
        self._user_agent = f"vat-validation-python/{VERSION} {user_agent}".rstrip()
        self._opener = open_connections(parts.scheme, ssl_context)

    def call(
        self,
        method: str,
        path: str,
        *,
        query: Optional[Query] = None,
        json_body: Any = None,
        content: Optional[bytes] = None,
        content_type: str = "application/json",
        idempotency_key: Optional[str] = None,
        timeout: Optional[float] = None,
        total: Optional[float] = None,
        max_bytes: int = MAX_BYTES,
    ) -> Answer:
        """The answer with status 2xx, after as many attempts as the policy allows.

        Raises :class:`ApiError`, or :class:`NoAnswerError` when the last attempt got no answer. ``timeout`` bounds one
        attempt instead of the client's; no attempt begins later than ``total``, or the policy's total, after the first. A
        larger answer than ``max_bytes`` is an :class:`UnexpectedAnswerError`.
        """
        body = json.dumps(json_body).encode() if json_body is not None else content
        # One id for all attempts: the service logs each of them under it, also those whose answer is lost.
        request_id = f"py-{uuid.uuid4().hex}"
        headers = {"X-Request-Id": request_id}
        if body is not None:
            headers["Content-Type"] = content_type
        if idempotency_key is not None:
            headers["Idempotency-Key"] = idempotency_key
        repeatable = method != "POST" or idempotency_key is not None
        most = self._retry.total if total is None else min(total, self._retry.total)
        policy = replace(self._retry, total=most)
        started = self.clock.monotonic()
        attempt = 0
        maybe_deleted = False
        while True:
            attempt += 1
            outcome = self._attempt(method, path, query, headers, body, timeout or self.timeout, request_id, max_bytes)
            if isinstance(outcome, Answer) and 200 <= outcome.status < 300:
                return outcome
            if isinstance(outcome, NoAnswerError) and isinstance(outcome.__cause__, ssl.SSLCertVerificationError):
                raise outcome
            elapsed = self.clock.monotonic() - started
            error_body = _error_body(outcome)
            status = outcome.status if isinstance(outcome, Answer) else None
            if maybe_deleted and isinstance(outcome, Answer) and _is_not_found(status, error_body):
                # An attempt before deleted it, and its answer was lost.
                return replace(outcome, status=204, reason="No Content", content=b"")
            maybe_deleted = maybe_deleted or (method == "DELETE" and outcome_unknown(status))
            delay = retry_delay(
                policy,
                repeatable=repeatable,
                attempt=attempt,
                elapsed=elapsed,
                status=status,
                headers=outcome.headers if isinstance(outcome, Answer) else {},
                body=error_body,
                now=self.clock.time(),
            )
            if delay is None:
                raise _error_of(outcome, error_body)
            more = random.uniform(0, policy.spread * delay)
            self.clock.sleep(min(delay + more, max(delay, policy.total - elapsed)))

    def _attempt(
        self,
        method: str,
        path: str,
        query: Optional[Query],
        headers: Mapping[str, str],
        body: Optional[bytes],
        timeout: float,
        request_id: str,
        max_bytes: int,
    ) -> Union[Answer, NoAnswerError]:
        url = self._base_url + path + _query_text(query)
        request = urllib.request.Request(url, data=body, method=method, headers=dict(headers))
        request.add_header("Accept", "application/json, */*;q=0.5")
        request.add_header("User-Agent", self._user_agent)
        request.add_header("Authorization", f"Bearer {self._api_key}")
        deadline = self.clock.monotonic() + timeout
        try:
            try:
                response = self._opener.open(request, timeout=timeout)
            except urllib.error.HTTPError as error:
                response = error
            with response:
                status, reason = int(response.status), str(response.reason or "")
                named = {name.lower(): value for name, value in response.headers.items()}
                content = self._read(response, deadline, max_bytes)
                if content is None:
                    message = f"the answer with status {status} is larger than {max_bytes} bytes"
                    raise UnexpectedAnswerError(message, status=status, request_id=named.get("x-request-id", request_id))
        except urllib.error.URLError as error:
            return _no_answer(error.reason, request_id, error)
        except (OSError, http.client.HTTPException) as error:
            return _no_answer(error, request_id, error)
        return Answer(status, reason, named, content, named.get("x-request-id", request_id))

    def _read(self, response: Any, deadline: float, max_bytes: int) -> Optional[bytes]:
        """The body; None when it is larger than ``max_bytes``."""
        chunks = []
        size = 0
        while True:
            # The time-out of the connection starts again with every byte that arrives.
            if self.clock.monotonic() > deadline:
                raise TimeoutError("the answer did not arrive completely in time")
            chunk = response.read1(_CHUNK)
            if not chunk:
                break
            chunks.append(chunk)
            size += len(chunk)
            if size > max_bytes:
                return None
        length = response.headers.get("Content-Length")
        # read1() does not notice that a connection ended too early.
        if length is not None and length.isdigit() and size != int(length) and response.status != 304:
            raise http.client.IncompleteRead(b"".join(chunks), int(length) - size)
        return b"".join(chunks)


def _query_text(query: Optional[Query]) -> str:
    def text(value: Union[str, int, bool]) -> str:
        return str(value).lower() if isinstance(value, bool) else str(value)

    given = {name: text(value) for name, value in (query or {}).items() if value is not None}
    return f"?{urllib.parse.urlencode(given, quote_via=urllib.parse.quote)}" if given else ""


def _no_answer(reason: Any, request_id: str, cause: BaseException) -> NoAnswerError:
    error = NoAnswerError(f"no complete answer arrived: {reason or type(reason).__name__}", request_id=request_id)
    error.__cause__ = reason if isinstance(reason, BaseException) else cause
    return error


def _error_body(outcome: Union[Answer, NoAnswerError]) -> Any:
    if not isinstance(outcome, Answer):
        return None
    try:
        return json.loads(outcome.content)
    except ValueError:
        return None


def _is_not_found(status: Optional[int], body: Any) -> bool:
    error = body.get("error") if isinstance(body, dict) else None
    return status == 404 and isinstance(error, dict) and error.get("code") == "NOT_FOUND"


def _error_of(outcome: Union[Answer, NoAnswerError], body: Any) -> VatError:
    if not isinstance(outcome, Answer):
        return outcome
    return api_error(outcome.status, outcome.reason, body, outcome.request_id)
