"""The objects of the API, as they arrive: dictionaries whose keys are declared here.

Keys of a class ending in ``Extras`` may be absent. Later releases of the service may add keys. Times are RFC 3339 in UTC.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, TypedDict, Union


class TraderInput(TypedDict, total=False):
    """What you know about a trader."""

    name: str
    street: str
    postal_code: str
    city: str
    company_type: str


class CheckEntryExtras(TypedDict, total=False):
    code: str
    attempts: int
    backpressure: bool
    detail: str
    facts: Dict[str, Any]
    contradicts: bool


class CheckEntry(CheckEntryExtras):
    """What one source contributed to a check."""

    source: str
    outcome: str
    started_at: str
    duration_ms: int


class PartScore(TypedDict):
    """How far one detail of the trader agrees, from 0 to 100."""

    score: int
    expected: str
    found: str
    source: str


class Match(TypedDict):
    """The comparison of the trader with all sources."""

    score: Optional[int]
    name: Optional[PartScore]
    street: Optional[PartScore]
    postal_code: Optional[PartScore]
    city: Optional[PartScore]


class CheckExtras(TypedDict, total=False):
    test: bool
    trader: Optional[TraderInput]
    match: Optional[Match]
    evidence_grade: str


class Check(CheckExtras):
    """The recorded outcome for one VAT number. ``verdict`` is ``valid``, ``invalid`` or ``malformed``."""

    id: str
    object: str
    request_id: str
    vat_number: str
    country_code: str
    input: str
    valid: bool
    verdict: str
    name: Optional[str]
    address: Optional[str]
    requester_vat_number: Optional[str]
    consultation_number: Optional[str]
    trader_match: Optional[Dict[str, Optional[str]]]
    reference: Optional[str]
    checks: List[CheckEntry]
    checked_at: str
    salt: str
    hash_profile: str
    response_hash: str
    timestamp: Optional[Dict[str, Any]]
    anchor: Optional[Dict[str, Any]]


class RequestExtras(TypedDict, total=False):
    test: bool


class Request(RequestExtras):
    """A request for a check. ``status`` is ``pending``, ``completed`` (then ``check`` is set) or ``abandoned`` (``reason``)."""

    id: str
    object: str
    status: str
    vat_number: str
    created_at: str
    accepted_at: Optional[str]
    give_up_at: Optional[str]
    attempts: int
    next_attempt_at: Optional[str]
    last_error: Optional[str]
    reason: Optional[str]
    check: Optional[Check]


class Batch(TypedDict):
    """An uploaded file of numbers. ``status`` is ``queued``, ``running`` or ``completed``."""

    batch_id: str
    object: str
    status: str
    label: Optional[str]
    file_name: Optional[str]
    total: int
    done: int
    failed: int
    valid: int
    invalid: int
    eta: Optional[str]
    waiting_for: List[str]
    created_at: str
    completed_at: Optional[str]


class LineError(TypedDict):
    """Why a line has no check."""

    code: str
    message: str


class BatchLine(TypedDict):
    """One line of a batch. ``status`` is ``queued``, ``done`` (then ``check_id`` is set) or ``failed`` (``error``)."""

    line_id: str
    line: int
    status: str
    input: str
    vat_number: Optional[str]
    reference: Optional[str]
    valid: Optional[bool]
    verdict: Optional[str]
    name: Optional[str]
    check_id: Optional[str]
    error: Optional[LineError]


class Coverage(TypedDict):
    """Whether the number of every supply in a file was checked in time."""

    coverage_id: str
    object: str
    label: Optional[str]
    file_name: Optional[str]
    max_age_days: int
    min_grade: str
    total: int
    covered: int
    stale: int
    weak: int
    invalid: int
    missing: int
    batch_id: Optional[str]
    created_at: str


class CoverageLine(TypedDict):
    """One supply. ``status`` is ``covered``, ``stale``, ``weak``, ``invalid`` or ``missing``."""

    line_id: str
    line: int
    status: str
    input: str
    vat_number: Optional[str]
    supply_date: str
    reference: Optional[str]
    check_id: Optional[str]
    checked_at: Optional[str]
    evidence_grade: Optional[str]
    error: Optional[LineError]


class Watch(TypedDict):
    """A VAT number that is checked regularly. ``frequency`` is ``weekly`` or ``daily``, ``status`` ``active`` or ``paused``."""

    watch_id: str
    object: str
    vat_number: str
    label: Optional[str]
    frequency: str
    status: str
    last_check_id: Optional[str]
    last_checked_at: Optional[str]
    missed_since: Optional[str]
    next_check_at: str
    created_at: str


class WatchChange(TypedDict):
    """A difference between two checks. ``kind`` is ``validity`` (booleans), ``name`` or ``address`` (texts or None)."""

    kind: str
    before: Union[bool, str, None]
    after: Union[bool, str, None]
    check_id: str
    changed_at: str


class Webhook(TypedDict):
    """The account's endpoint."""

    url: str
    secret_prefix: str
    configured_at: str


class LastAttempt(TypedDict):
    at: str
    status_code: Optional[int]
    duration_ms: int
    error: Optional[str]


class Delivery(TypedDict):
    """An entry of the delivery log. ``status`` is ``pending``, ``successful`` or ``failed``."""

    delivery_id: str
    event: str
    event_id: str
    status: str
    attempts: int
    created_at: str
    next_attempt_at: Optional[str]
    last_attempt: Optional[LastAttempt]


class DeliveryDetail(Delivery):
    """A delivery with the body of its event and all attempts."""

    body: Dict[str, Any]
    attempts_log: List[Dict[str, Any]]


class Resend(TypedDict):
    """The result of resending many deliveries."""

    resend_id: str
    matched: int
    queued: int


class EventExtras(TypedDict, total=False):
    test: bool


class Event(EventExtras):
    """An event of the account. ``body`` is what a webhook receives."""

    event_id: str
    type: str
    created_at: str
    body: Dict[str, Any]


class Usage(TypedDict):
    """The checks of the current UTC month."""

    period: str
    plan: str
    limit: int
    used: int
    reserved: int
    reset_at: str


class MemberStateStatus(TypedDict):
    """What the service observed of one member state. ``health`` is ``ok``, ``degraded``, ``down`` or ``unknown``."""

    member_state: str
    health: str
    asks: int
    answered: Optional[float]
    saturated: Optional[float]
    unavailable: Optional[float]
    p50_ms: Optional[int]
    p95_ms: Optional[int]
    queue_depth: int
    oldest_wait_ms: Optional[int]
    oldest_waits_ms: Dict[str, Optional[int]]


class Status(TypedDict):
    """The recent availability of each member state."""

    generated_at: str
    window_seconds: int
    member_states: List[MemberStateStatus]


class StatusHistory(TypedDict):
    """The availability of the member states by the hour."""

    # `from` is a keyword of Python, so it is not declared: read it with history["from"].
    to: str
    data: List[Dict[str, Any]]
