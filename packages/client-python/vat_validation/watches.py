"""Watches: numbers that the service checks regularly."""

from __future__ import annotations

from typing import Any, Iterator, Optional, cast

from .checks import new_idempotency_key
from .paging import follow_list, path_of
from .transport import Transport
from .types import Watch, WatchChange


class _Unset:
    """The default of a field for which None has a meaning of its own."""


_UNSET = _Unset()


class Watches:
    """Watched numbers. A test key cannot use them."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def create(
        self,
        vat_number: str,
        *,
        frequency: str,
        country_code: Optional[str] = None,
        label: Optional[str] = None,
        requester_vat_number: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Watch:
        """Watches a number; ``frequency`` is ``weekly`` or ``daily``."""
        fields = {
            "vat_number": vat_number,
            "frequency": frequency,
            "country_code": country_code,
            "label": label,
            "requester_vat_number": requester_vat_number,
        }
        answer = self._transport.call(
            "POST",
            path_of("watches"),
            json_body={name: value for name, value in fields.items() if value is not None},
            idempotency_key=idempotency_key or new_idempotency_key(),
        )
        return cast(Watch, answer.object())

    def get(self, watch_id: str) -> Watch:
        """The watch as it is now."""
        return cast(Watch, self._transport.call("GET", path_of("watches", watch_id)).object())

    def list(self, *, limit: int = 100) -> Iterator[Watch]:
        """All watches, newest first."""
        return follow_list(self._transport, path_of("watches"), {"limit": limit})

    def update(
        self,
        watch_id: str,
        *,
        label: Any = _UNSET,
        frequency: Optional[str] = None,
        status: Optional[str] = None,
    ) -> Watch:
        """Changes what is given. ``label`` is a text, or None to remove it; ``status`` is ``active`` or ``paused``."""
        fields = {"frequency": frequency, "status": status}
        body = {name: value for name, value in fields.items() if value is not None}
        if label is not _UNSET:
            body["label"] = label
        return cast(Watch, self._transport.call("PATCH", path_of("watches", watch_id), json_body=body).object())

    def delete(self, watch_id: str) -> None:
        """Deletes the watch and its changes. Its checks are not deleted."""
        self._transport.call("DELETE", path_of("watches", watch_id))

    def changes(self, watch_id: str, *, limit: int = 100) -> Iterator[WatchChange]:
        """The changes of a watch, newest first."""
        return follow_list(self._transport, path_of("watches", watch_id, "changes"), {"limit": limit})
