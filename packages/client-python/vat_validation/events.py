"""The events of the account, without a webhook."""

from __future__ import annotations

from typing import Dict, Iterator, List, Optional, Tuple, cast

from .errors import UnexpectedAnswerError
from .paging import Value, follow_list, path_of
from .transport import Transport
from .types import Event

# Seconds that the service may hold a call until there is an event.
LONGEST_WAIT = 20
# Seconds between two calls when the service does not hold them.
_LEAST_INTERVAL = 1.0


class EventFeed:
    """The events after one of them, oldest first and without end: iterate over it.

    ``position`` is the id of the last event that was handled, that is, after which the next one was requested from the
    iterator. Store it, and continue there after a restart: no event is missed then, and at most one is seen twice.
    """

    def __init__(self, transport: Transport, after: str, filters: Dict[str, Value]) -> None:
        self._transport = transport
        self._filters = filters
        self.position = after

    def __iter__(self) -> Iterator[Event]:
        clock = self._transport.clock
        while True:
            began = clock.monotonic()
            events, last = _read(self._transport, self.position, self._filters)
            for event in events:
                yield event
                self.position = event["event_id"]
            self.position = last
            if not events:
                clock.sleep(max(0.0, _LEAST_INTERVAL - (clock.monotonic() - began)))


class Events:
    """Events: every one of the account, with or without an endpoint."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def list(
        self,
        *,
        type: Optional[str] = None,
        from_: Optional[str] = None,
        to: Optional[str] = None,
        limit: int = 100,
    ) -> Iterator[Event]:
        """The events so far, newest first."""
        filters: Dict[str, Value] = {"limit": limit, "type": type, "from": from_, "to": to}
        return follow_list(self._transport, path_of("events"), filters)

    def get(self, event_id: str) -> Event:
        """One event."""
        return cast(Event, self._transport.call("GET", path_of("events", event_id)).object())

    def read(
        self, after: str = "start", *, type: Optional[str] = None, wait: int = 0, limit: int = 100
    ) -> Tuple[List[Event], str]:
        """The next events after ``after`` (an event id, or ``start``), oldest first, and the id to continue after.

        ``wait`` (0 to 20 seconds) holds the call until there is an event.
        """
        return _read(self._transport, after, {"type": type, "wait": wait, "limit": limit})

    def follow(
        self, after: str = "start", *, type: Optional[str] = None, wait: int = LONGEST_WAIT, limit: int = 100
    ) -> EventFeed:
        """All events after ``after``, as they happen. It never ends by itself: leave the loop with ``break``.

        While the service cannot be reached, calls are retried by the policy of the client; then the error is raised, and a new
        ``follow(feed.position)`` continues without a gap.
        """
        return EventFeed(self._transport, after, {"type": type, "wait": wait, "limit": limit})


def _read(transport: Transport, after: str, filters: Dict[str, Value]) -> Tuple[List[Event], str]:
    """One call of GET /v1/events?after=…: the events, and the id to continue after."""
    # The service may hold the call, and an attempt must not end before it does.
    timeout = transport.timeout + LONGEST_WAIT
    answer = transport.call("GET", path_of("events"), query={"after": after, **filters}, timeout=timeout)
    body = answer.object()
    events, last = body.get("data"), body.get("last_event_id")
    if not _are_events(events) or not (last is None or isinstance(last, str)):
        message = "the service did not answer with events"
        raise UnexpectedAnswerError(message, status=answer.status, request_id=answer.request_id)
    return cast(List[Event], events), last or (events[-1]["event_id"] if events else after)


def _are_events(data: object) -> bool:
    return isinstance(data, list) and all(isinstance(one, dict) and isinstance(one.get("event_id"), str) for one in data)
