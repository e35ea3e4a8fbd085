"""Client of the VAT Validation Service, with Python's standard library alone."""

from .client import Client
from .errors import (
    ApiError,
    BadRequestError,
    ConflictError,
    ForbiddenError,
    NoAnswerError,
    NotFoundError,
    ServiceError,
    TooManyRequestsError,
    UnauthorizedError,
    UnexpectedAnswerError,
    VatError,
    VerificationError,
)
from .events import EventFeed
from .hashes import canonical_form, hash_check, verify_check
from .results import Abandoned, CheckResult, Completed, Pending
from .retry import RetryPolicy
from .version import VERSION as __version__
from .webhooks import VerifiedDelivery, verify_delivery

__all__ = [
    "Abandoned",
    "ApiError",
    "BadRequestError",
    "CheckResult",
    "Client",
    "Completed",
    "ConflictError",
    "EventFeed",
    "ForbiddenError",
    "NoAnswerError",
    "NotFoundError",
    "Pending",
    "RetryPolicy",
    "ServiceError",
    "TooManyRequestsError",
    "UnauthorizedError",
    "UnexpectedAnswerError",
    "VatError",
    "VerificationError",
    "VerifiedDelivery",
    "__version__",
    "canonical_form",
    "hash_check",
    "verify_check",
    "verify_delivery",
]
