"""Verifies the hash of a check, with this machine alone."""

from __future__ import annotations

import hashlib
import hmac
import json
import re
from typing import Any, Mapping, Union

from .errors import VerificationError

HASH_PROFILE = "jcs-sha256-v1"
# Filled in after the check is hashed.
_LATER_FIELDS = ("response_hash", "timestamp", "anchor")
_MAX_INTEGER = 2**53 - 1
_KEY = re.compile(r"[a-z0-9_]+")
_UNSAFE = re.compile("[\u007f\ud800-\udfff]")


def canonical_form(value: Any) -> str:
    """The RFC 8785 (JCS) form of a JSON value.

    It is that of every implementation for the values that a check can have: integers, keys of ``[a-z0-9_]``, no U+007F and
    no lone surrogates. Raises :class:`VerificationError` with NOT_HASHABLE for others.
    """
    _assert_plain(value, "check")
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def hash_check(check: Mapping[str, Any]) -> str:
    """``sha256:`` and the SHA-256 of a check as GET /v1/checks/{id} returns it, computed from its other fields."""
    hashed = {key: value for key, value in check.items() if key not in _LATER_FIELDS}
    return f"sha256:{hashlib.sha256(canonical_form(hashed).encode()).hexdigest()}"


def verify_check(check: Union[Mapping[str, Any], str, bytes]) -> None:
    """Returns when ``response_hash`` is that of the check, and raises :class:`VerificationError` otherwise.

    :param check: the body of GET /v1/checks/{id}, parsed or as text. To prove what the service answered at the time, compare
        ``response_hash`` with the one that you stored then, too.
    """
    body: Any = check
    if isinstance(check, (str, bytes)):
        try:
            body = json.loads(check)
        except ValueError as error:
            raise VerificationError("HASH_MISSING", "the check is not JSON") from error
    given = body.get("response_hash") if isinstance(body, Mapping) else None
    if not isinstance(given, str):
        raise VerificationError("HASH_MISSING", "the check has no response_hash")
    if body.get("hash_profile") != HASH_PROFILE:
        raise VerificationError("UNKNOWN_PROFILE", f"the check was not hashed by {HASH_PROFILE}; update this package")
    # As bytes: compare_digest refuses text with letters beyond ASCII.
    if not hmac.compare_digest(hash_check(body).encode(), given.encode("utf-8", "replace")):
        raise VerificationError("HASH_MISMATCH", "the check is not the one that was hashed")


def _assert_plain(value: Any, path: str) -> None:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not isinstance(key, str) or not _KEY.fullmatch(key):
                raise VerificationError("NOT_HASHABLE", f"{path} has the key {key!r}")
            _assert_plain(inner, f"{path}.{key}")
    elif isinstance(value, list):
        for index, inner in enumerate(value):
            _assert_plain(inner, f"{path}.{index}")
    elif isinstance(value, str):
        if _UNSAFE.search(value):
            raise VerificationError("NOT_HASHABLE", f"{path} has a character that readers of JSON disagree on")
    elif isinstance(value, int):  # bool is one, too
        if abs(value) > _MAX_INTEGER:
            raise VerificationError("NOT_HASHABLE", f"{path} is too large")
    elif value is not None:
        raise VerificationError("NOT_HASHABLE", f"{path} is not an integer")
