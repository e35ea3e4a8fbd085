"""Checks, and the requests that lead to them."""

from __future__ import annotations

import uuid
from typing import Any, Iterator, Mapping, Optional, Tuple, cast

from .errors import NoAnswerError, ServiceError, TooManyRequestsError
from .paging import follow_list, path_of
from .results import Abandoned, CheckResult, Completed, Pending
from .retry import retry_after
from .transport import Transport
from .types import Check, Request, TraderInput

# Seconds between two reads of a request while the service states none, and at least.
POLL_INTERVAL = 5.0
LEAST_POLL_INTERVAL = 0.5
# Seconds that a read at the deadline may take.
LAST_READ = 10.0
# The fields of a request that its result is made of.
_REQUEST = ("id", "status", "check", "reason", "last_error", "give_up_at")
#: The same call can succeed later.
TEMPORARY = (NoAnswerError, ServiceError, TooManyRequestsError)


class Requests:
    """Requests that were answered 202."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self, request_id: str) -> Request:
        """The request as it is now."""
        return cast(Request, self._transport.call("GET", path_of("requests", request_id)).object(*_REQUEST))

    def wait(self, request_id: str, timeout: float, *, interval: Optional[float] = None) -> CheckResult:
        """Reads the request until it ends or ``timeout`` seconds have passed; then the result is :class:`Pending`.

        The request is read at once, then at the interval that the service gives (Retry-After), else every five seconds, and
        once more at the end; ``interval`` replaces that. While the service cannot be reached, the request counts as pending.
        """
        started = self._transport.clock.monotonic()
        result, headers = self._read(Pending(request_id, None), max(timeout, LAST_READ))
        if not isinstance(result, Pending):
            return result
        return self.follow(result, headers, timeout - (self._transport.clock.monotonic() - started), interval)

    def follow(
        self, pending: Pending, headers: Mapping[str, str], timeout: float, interval: Optional[float]
    ) -> CheckResult:
        """As ``wait``, from a result that is already known and the headers that came with it."""
        clock = self._transport.clock
        deadline = clock.monotonic() + timeout
        pause = POLL_INTERVAL
        while True:
            stated = retry_after(headers, clock.time())
            if stated is not None:
                pause = max(LEAST_POLL_INTERVAL, stated)
            remaining = deadline - clock.monotonic()
            if remaining <= 0:
                return pending
            clock.sleep(min(pause if interval is None else interval, remaining))
            result, headers = self._read(pending, max(deadline - clock.monotonic(), LAST_READ))
            if not isinstance(result, Pending):
                return result
            pending = result

    def _read(self, pending: Pending, within: float) -> Tuple[CheckResult, Mapping[str, str]]:
        """The request as it is now, and the headers of the answer; as it was, while the service cannot be reached."""
        path = path_of("requests", pending.request_id)
        try:
            answer = self._transport.call("GET", path, total=within, timeout=min(within, 60.0))
        except TEMPORARY:
            return pending, {}
        return _result_of(cast(Request, answer.object(*_REQUEST)), pending.replayed), answer.headers


class Checks:
    """Checks of VAT numbers."""

    def __init__(self, transport: Transport, requests: Requests) -> None:
        self._transport = transport
        self._requests = requests

    def create(
        self,
        vat_number: str,
        *,
        country_code: Optional[str] = None,
        requester_vat_number: Optional[str] = None,
        reference: Optional[str] = None,
        trader: Optional[TraderInput] = None,
        wait: float = 0,
        interval: Optional[float] = None,
        idempotency_key: Optional[str] = None,
    ) -> CheckResult:
        """Checks a number, in any notation.

        The call itself takes up to about 48 seconds, while the service waits for VIES. After that the request continues in the
        background: the result is then :class:`Pending`, or what became of it within ``wait`` further seconds.

        All attempts of this call carry one Idempotency-Key, so the number is checked and charged once. Give your own
        ``idempotency_key`` (such as the id of your order) to repeat the call safely also after your program was restarted.
        """
        fields = {
            "vat_number": vat_number,
            "country_code": country_code,
            "requester_vat_number": requester_vat_number,
            "reference": reference,
            "trader": trader,
        }
        answer = self._transport.call(
            "POST",
            path_of("checks"),
            json_body={name: value for name, value in fields.items() if value is not None},
            idempotency_key=idempotency_key or new_idempotency_key(),
        )
        body = answer.object(*(("request_id",) if answer.status == 202 else ("id", "request_id", "valid")))
        replayed = answer.headers.get("idempotency-replayed") == "true"
        if answer.status != 202:
            check = cast(Check, body)
            return Completed(check, check["request_id"], replayed)
        pending = Pending(body["request_id"], body.get("give_up_at"), _last_error(body.get("checks")), replayed)
        return self._requests.follow(pending, answer.headers, wait, interval)

    def get(self, check_id: str) -> Check:
        """A check, whose hash :func:`vat_validation.verify_check` verifies."""
        return cast(Check, self._transport.call("GET", path_of("checks", check_id)).object())

    def evidence(self, check_id: str) -> bytes:
        """The bytes that were hashed: their SHA-256 is ``response_hash``."""
        return self._transport.call("GET", path_of("checks", check_id, "evidence")).file()

    def certificate(self, check_id: str, *, lang: str = "en") -> bytes:
        """The certificate of a check (PDF), in ``en``, ``de``, ``fr``, ``it``, ``es``, ``pl`` or ``nl``."""
        return self._transport.call("GET", path_of("checks", check_id, "certificate.pdf"), query={"lang": lang}).file()

    def link(self, check_id: str) -> str:
        """The URL of the public page, where anybody who has it can read and verify the check."""
        return str(self._transport.call("GET", path_of("checks", check_id, "link")).object("url")["url"])

    def list(
        self,
        *,
        vat_number: Optional[str] = None,
        valid: Optional[bool] = None,
        reference: Optional[str] = None,
        from_: Optional[str] = None,
        to: Optional[str] = None,
        limit: int = 100,
    ) -> Iterator[Check]:
        """All checks that fit, newest first; ``limit`` is the size of a page. ``from_`` (inclusive) and ``to`` (exclusive) are
        RFC 3339 times or dates."""
        filters = {"vat_number": vat_number, "valid": valid, "reference": reference, "from": from_, "to": to}
        return follow_list(self._transport, path_of("checks"), {"limit": limit, **filters})


def new_idempotency_key() -> str:
    """A key that no other call has."""
    return str(uuid.uuid4())


def _result_of(request: Request, replayed: bool) -> CheckResult:
    check = request["check"]
    if request["status"] == "completed" and check is not None:
        return Completed(check, request["id"], replayed)
    if request["status"] == "abandoned":
        return Abandoned(request["id"], request["reason"], request["last_error"])
    return Pending(request["id"], request["give_up_at"], request["last_error"], replayed)


def _last_error(entries: Any) -> Optional[str]:
    """The code of VIES in the entries of a 202."""
    found = [entry.get("code") for entry in entries or [] if entry.get("source") in ("vies", "vies_confirmation")]
    return found[-1] if found else None
