"""Which outcomes of a call are followed by another attempt, and after how long."""

from __future__ import annotations

import email.utils
import re
from dataclasses import dataclass
from typing import Any, Mapping, Optional


@dataclass(frozen=True)
class RetryPolicy:
    """Bounds of the attempts of one call; times are in seconds.

    ``attempts`` limits the attempts whose delay the client chooses: ``first_delay``, multiplied by ``factor`` each time, up
    to ``max_delay``. A delay that the service states is followed on any attempt. Up to the part ``spread`` of each delay is
    added at random. No delay passes ``total``, counted from the beginning of the first attempt. ``RetryPolicy(attempts=1,
    total=0)`` never retries.
    """

    attempts: int = 6
    first_delay: float = 0.5
    factor: float = 2.0
    max_delay: float = 8.0
    spread: float = 0.2
    total: float = 120.0


# A delay in seconds that passes every total time; a longer one could not be slept.
_FOREVER = 1e9
# The call may have been executed.
_UNKNOWN_OUTCOMES = frozenset({408, 500, 502, 503, 504})


def retry_delay(
    policy: RetryPolicy,
    *,
    repeatable: bool,
    attempt: int,
    elapsed: float,
    status: Optional[int],
    headers: Mapping[str, str],
    body: Any,
    now: float,
) -> Optional[float]:
    """Seconds to wait before the next attempt, without the random part; None when the outcome is final.

    :param repeatable: whether the call does no harm when it is executed twice
    :param attempt: the number of attempts so far
    :param elapsed: seconds since the first attempt began
    :param status: None when no complete answer arrived
    :param body: the JSON of the answer, or None
    :param now: seconds since 1970, for a Retry-After that is a date in an answer without Date
    """
    error = body.get("error") if isinstance(body, dict) else None
    fields = error if isinstance(error, dict) else {}
    if not _can_succeed(status, fields, repeatable):
        return None
    stated = _stated_delay(fields.get("retry_after"))
    if stated is None:
        stated = retry_after(headers, now)
    if stated is not None:
        delay = max(policy.first_delay, stated)
    elif attempt < policy.attempts:
        delay = min(policy.max_delay, policy.first_delay * policy.factor ** (attempt - 1))
    else:
        return None
    return delay if elapsed + delay <= policy.total else None


def _can_succeed(status: Optional[int], error: Mapping[str, Any], repeatable: bool) -> bool:
    code = error.get("code")
    if status == 429:
        # Nothing was done. An error of the service without retry_after, such as QUOTA_EXCEEDED, lasts too long to wait for.
        return not isinstance(code, str) or "retry_after" in error
    if status == 409:
        return bool(code == "IDEMPOTENCY_IN_PROGRESS")
    return repeatable and outcome_unknown(status)


def outcome_unknown(status: Optional[int]) -> bool:
    """Whether the work of a call may have been done although it has no successful answer."""
    return status is None or status in _UNKNOWN_OUTCOMES


def _stated_delay(value: Any) -> Optional[float]:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    # A whole number of JSON can be too large for a float.
    return float(min(value, _FOREVER)) if value >= 0 else None


def retry_after(headers: Mapping[str, str], now: float) -> Optional[float]:
    """The seconds of Retry-After, which is a number or a date; None when it is absent or cannot be read."""
    named = {name.lower(): value for name, value in headers.items()}
    text = named.get("retry-after", "").strip()
    if re.fullmatch(r"[0-9]+(\.[0-9]+)?", text):
        return min(float(text), _FOREVER)
    # Only the form of HTTP: the parser takes dates without a time zone for those of this machine.
    until = _seconds_of(text) if text.endswith(" GMT") else None
    if until is None:
        return None
    # The clock of the service, since this machine's may differ.
    sent = _seconds_of(named.get("date", ""))
    return max(0.0, until - (now if sent is None else sent))


def _seconds_of(date: str) -> Optional[float]:
    try:
        return email.utils.parsedate_to_datetime(date).timestamp()
    except (TypeError, ValueError, IndexError, OverflowError):
        return None
