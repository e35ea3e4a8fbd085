"""The outcome of a check: its result, still pending, or abandoned."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Optional, Union

from .types import Check


@dataclass(frozen=True)
class Completed:
    """The number was checked. ``check["valid"]`` is the answer; an invalid or malformed number is no error.

    ``replayed`` is True when the service returned the result of an earlier call with the same Idempotency-Key.
    """

    check: Check
    request_id: str
    replayed: bool = False
    status: ClassVar[str] = "completed"


@dataclass(frozen=True)
class Pending:
    """VIES has not answered yet; the service continues. Nothing is known about the number: this is no verdict.

    Store ``request_id``, and continue with ``client.requests.wait(request_id, …)`` or with the webhook ``check.completed``.
    ``give_up_at`` is when the service would abandon the request, RFC 3339.
    """

    request_id: str
    give_up_at: Optional[str]
    last_error: Optional[str] = None
    replayed: bool = False
    status: ClassVar[str] = "pending"


@dataclass(frozen=True)
class Abandoned:
    """The service gave up without an answer, and nothing was charged. This is no verdict either.

    ``reason`` is UPSTREAM_NO_ANSWER, NEVER_ASKED, ACCOUNT_DISABLED or INVALID_REQUESTER.
    """

    request_id: str
    reason: Optional[str]
    last_error: Optional[str]
    status: ClassVar[str] = "abandoned"


CheckResult = Union[Completed, Pending, Abandoned]
