"""Verifies webhook deliveries, with this machine alone."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from .errors import VerificationError

#: Headers as servers provide them: a mapping (of texts or lists of texts), an ``email.message.Message``, or pairs.
Headers = Union[Mapping[str, Any], Iterable[Tuple[str, str]]]


@dataclass(frozen=True)
class VerifiedDelivery:
    """A delivery with verified signatures.

    ``id`` is the id of the event, the same at every attempt and resend: store it, to handle each event once. It is None when
    the request has no Standard Webhooks signature, the only one that covers it. ``delivery_id`` is the id in the service's
    log, which is not signed. ``sent_at`` is the time of this attempt.
    """

    event: Dict[str, Any]
    id: Optional[str]
    delivery_id: Optional[str]
    sent_at: datetime


@dataclass(frozen=True)
class _Signature:
    header: str
    timestamp: int
    id: Optional[str]
    received: List[bytes]
    expected: List[bytes]


def verify_delivery(
    headers: Headers,
    raw_body: Union[bytes, str],
    secret: Union[str, Sequence[str]],
    *,
    tolerance: float = 300,
    now: Optional[float] = None,
) -> VerifiedDelivery:
    """Verifies a delivery and returns its event. Raises :class:`VerificationError`.

    A delivery has two signatures, the service's own and that of Standard Webhooks. Each one that is present must be correct,
    and at least one must be present.

    :param raw_body: the body as received; after parsing and serialising, its bytes may differ
    :param secret: ``whsec_…`` as shown when the webhook was saved; a list while an old and a new one are both in use
    :param tolerance: seconds that the timestamp may differ from this machine's clock, in either direction
    :param now: seconds since 1970; the time of this machine by default
    """
    body = _bytes_of(raw_body)
    secrets = _secrets_of(secret)
    named = _by_name(headers)
    standard = _read_standard_signature(named, body, secrets)
    signatures = [each for each in (_read_service_signature(named, body, secrets), standard) if each is not None]
    if not signatures:
        raise VerificationError("MISSING_HEADER", "there is no signature header")
    for signature in signatures:
        # Every pair is compared, also after a match, so that the duration does not reveal which one is right.
        matches = [hmac.compare_digest(mine, theirs) for mine in signature.received for theirs in signature.expected]
        if not any(matches):
            text = f"{signature.header} was made with another secret or of another body"
            raise VerificationError("SIGNATURE_MISMATCH", text)
    clock = time.time() if now is None else now
    for signature in signatures:
        age = clock - signature.timestamp
        # This form refuses the delivery when `age` or `tolerance` is NaN.
        if not abs(age) <= tolerance:
            side = "ahead of" if age < 0 else "behind"
            text = f"the delivery is {abs(age):.0f} s {side} this clock, {tolerance} s are allowed"
            raise VerificationError("TIMESTAMP_OUTSIDE_TOLERANCE", text)
    return VerifiedDelivery(
        event=_read_event(body),
        id=standard.id if standard else None,
        delivery_id=_one_value(named, "x-service-delivery"),
        sent_at=datetime.fromtimestamp(signatures[0].timestamp, timezone.utc),
    )


def _bytes_of(body: Any) -> bytes:
    if isinstance(body, str):
        return body.encode("utf-8", "surrogatepass")
    if isinstance(body, (bytes, bytearray, memoryview)):
        return bytes(body)
    raise VerificationError("BODY_NOT_RAW", "the body is neither text nor bytes; verify it before it is parsed")


def _secrets_of(secret: Any) -> List[str]:
    secrets = list(secret) if isinstance(secret, (list, tuple)) else [secret]
    if secrets and all(isinstance(each, str) and each for each in secrets):
        return secrets
    raise VerificationError("INVALID_SECRET", "a secret is missing or empty")


def _by_name(headers: Any) -> Dict[str, List[str]]:
    """All non-empty values of each header, by its name in lower case."""
    pairs = headers.items() if hasattr(headers, "items") else headers
    named: Dict[str, List[str]] = {}
    for name, value in pairs or ():
        values = value if isinstance(value, (list, tuple)) else [value]
        texts = [each for each in values if isinstance(each, str) and each]
        named.setdefault(str(name).lower(), []).extend(texts)
    return named


def _one_value(named: Dict[str, List[str]], name: str) -> Optional[str]:
    values = sorted(set(named.get(name, [])))
    if len(values) > 1:
        # Choosing one would let an intermediary decide which one counts.
        raise VerificationError("MALFORMED_HEADER", f"{name} was sent with different values")
    return values[0] if values else None


def _timestamp(named: Dict[str, List[str]], name: str) -> str:
    """The header as received, because the text itself is signed."""
    text = _one_value(named, name)
    if text is None:
        raise VerificationError("MISSING_HEADER", f"{name} is missing")
    if not re.fullmatch(r"[0-9]{1,12}", text):
        raise VerificationError("MALFORMED_HEADER", f"{name} is not a number of Unix seconds")
    return text


def _hmac(key: bytes, message: bytes) -> bytes:
    return hmac.new(key, message, hashlib.sha256).digest()


def _read_service_signature(named: Dict[str, List[str]], body: bytes, secrets: Sequence[str]) -> Optional[_Signature]:
    header = "x-service-signature"
    text = _one_value(named, header)
    if text is None:
        return None
    timestamp = _timestamp(named, "x-service-timestamp")
    digits = re.fullmatch(r"sha256=([0-9a-f]{64})", text)
    if not digits:
        raise VerificationError("MALFORMED_HEADER", f"{header} is not sha256= and 64 lowercase hex digits")
    message = f"{timestamp}.".encode() + body
    # The key is the secret's text as shown, including whsec_.
    expected = [_hmac(secret.encode("utf-8", "replace"), message) for secret in secrets]
    return _Signature(header, int(timestamp), None, [bytes.fromhex(digits[1])], expected)


def _read_standard_signature(named: Dict[str, List[str]], body: bytes, secrets: Sequence[str]) -> Optional[_Signature]:
    header = "webhook-signature"
    lists = named.get(header, [])
    if not lists:
        return None
    event_id = _one_value(named, "webhook-id")
    if event_id is None:
        raise VerificationError("MISSING_HEADER", "webhook-id is missing")
    timestamp = _timestamp(named, "webhook-timestamp")
    # Entries of other versions are ignored, as the specification requires.
    entries = [re.fullmatch(r"v1,([A-Za-z0-9+/]{43}=)", entry) for text in lists for entry in text.split(" ")]
    received = [base64.b64decode(entry[1]) for entry in entries if entry]
    if not received:
        raise VerificationError("MALFORMED_HEADER", f"{header} contains no v1 signature")
    message = f"{event_id}.{timestamp}.".encode("utf-8", "replace") + body
    expected = [_hmac(_standard_key(secret), message) for secret in secrets]
    return _Signature(header, int(timestamp), event_id, received, expected)


def _standard_key(secret: str) -> bytes:
    """The decoded base64 after whsec_. A truncated secret must not become an empty key, with which anyone can sign."""
    encoded = re.fullmatch(r"whsec_([A-Za-z0-9+/]{2,}={0,2})", secret)
    try:
        if encoded:
            return base64.b64decode(encoded[1], validate=True)
    except binascii.Error:
        pass
    raise VerificationError("INVALID_SECRET", "a secret is not whsec_ followed by base64")


def _read_event(body: bytes) -> Dict[str, Any]:
    try:
        event = json.loads(body.decode("utf-8"))
    except ValueError:
        event = None
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        raise VerificationError("INVALID_BODY", "the body is not a JSON object with an event")
    return event
