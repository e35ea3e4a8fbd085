"""The errors that the client raises. All of them are a :class:`VatError`."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional


class VatError(Exception):
    """Base of all errors of this package.

    ``code`` is for programs, ``message`` for people. ``status`` is the HTTP status and ``request_id`` the X-Request-Id of
    the call, by which the operator of the service finds it; both are None where there was no call.
    """

    def __init__(
        self, code: str, message: str, *, status: Optional[int] = None, request_id: Optional[str] = None
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.status = status
        self.request_id = request_id

    def __str__(self) -> str:
        where = f" (request {self.request_id})" if self.request_id else ""
        return f"{self.code}: {self.message}{where}"


class ApiError(VatError):
    """The service, or a proxy before it, answered with an error.

    ``code`` is one of the service's error codes, or ``HTTP_<status>`` when the answer was not the service's. ``extra`` has
    the further fields of the error, such as ``reset_at``, ``pending`` or ``fields``.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        status: int,
        request_id: Optional[str],
        extra: Optional[Mapping[str, Any]] = None,
    ) -> None:
        super().__init__(code, message, status=status, request_id=request_id)
        self.extra: Dict[str, Any] = dict(extra or {})

    @property
    def retry_after(self) -> Optional[float]:
        """Seconds after which the service expects the call again, if it said so."""
        value = self.extra.get("retry_after")
        return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None

    @property
    def fields(self) -> List[Dict[str, str]]:
        """What to correct in the request, one ``{"path", "message"}`` for each field (BAD_REQUEST)."""
        value = self.extra.get("fields")
        return value if isinstance(value, list) else []


class BadRequestError(ApiError):
    """The call must be changed before it can succeed: status 400, 405, 413 or 422."""


class UnauthorizedError(ApiError):
    """The API key is missing, malformed, unknown or revoked."""


class ForbiddenError(ApiError):
    """The account or the key may not do this: ACCOUNT_DISABLED, TEST_KEY_NOT_ALLOWED, WATCH_LIMIT, FREQUENCY_NOT_ALLOWED."""


class NotFoundError(ApiError):
    """There is no such path or object, or it belongs to another account."""


class ConflictError(ApiError):
    """The state of the object does not allow the call: BATCH_RUNNING, WATCH_EXISTS, EXPORT_IN_PROGRESS and others."""


class TooManyRequestsError(ApiError):
    """A limit was reached: RATE_LIMITED, QUOTA_EXCEEDED, TOO_MANY_PENDING, TOO_MANY_BATCHES and others."""


class ServiceError(ApiError):
    """The service, or a proxy before it, failed: status 5xx."""


class NoAnswerError(VatError):
    """No complete answer arrived: no connection, a time-out, or a connection that broke. ``__cause__`` is the reason.

    The call may have been executed. Repeat it with the same ``idempotency_key`` (where the method takes one) to find out.
    """

    def __init__(self, message: str, *, request_id: Optional[str]) -> None:
        super().__init__("NO_ANSWER", message, request_id=request_id)


class UnexpectedAnswerError(VatError):
    """The answer is not one of this API, for example a page of a proxy with status 200, or larger than the call allows."""

    def __init__(self, message: str, *, status: int, request_id: Optional[str]) -> None:
        super().__init__("UNEXPECTED_ANSWER", message, status=status, request_id=request_id)


class VerificationError(VatError):
    """A webhook delivery or the hash of a check did not verify; ``code`` is the reason.

    Deliveries: MISSING_HEADER, MALFORMED_HEADER, SIGNATURE_MISMATCH, TIMESTAMP_OUTSIDE_TOLERANCE, INVALID_BODY,
    INVALID_SECRET, BODY_NOT_RAW. Checks: HASH_MISSING, HASH_MISMATCH, UNKNOWN_PROFILE, NOT_HASHABLE.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(code, message)


_BY_STATUS = {
    400: BadRequestError,
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    405: BadRequestError,
    409: ConflictError,
    413: BadRequestError,
    422: BadRequestError,
    429: TooManyRequestsError,
}


def api_error(status: int, reason: str, body: Any, request_id: Optional[str]) -> ApiError:
    """The error for an answer whose status is not 2xx. ``body`` is its JSON, or None when it has none."""
    kind = _BY_STATUS.get(status, ServiceError if status >= 500 else ApiError)
    error = body.get("error") if isinstance(body, dict) else None
    if isinstance(error, dict) and isinstance(error.get("code"), str):
        extra = {key: value for key, value in error.items() if key not in ("code", "message")}
        return kind(error["code"], str(error.get("message", "")), status=status, request_id=request_id, extra=extra)
    message = f"the answer has status {status} {reason}".rstrip()
    return kind(f"HTTP_{status}", message, status=status, request_id=request_id)
