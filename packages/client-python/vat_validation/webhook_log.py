"""The account's webhook endpoint and the log of its deliveries."""

from __future__ import annotations

from typing import Dict, Iterator, Optional, cast

from .checks import new_idempotency_key
from .paging import Value, follow_list, path_of
from .transport import Transport
from .types import Delivery, DeliveryDetail, Resend, Webhook


class WebhookLog:
    """The endpoint, which is configured on the dashboard, and its deliveries."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def get(self) -> Webhook:
        """The endpoint. Raises :class:`NotFoundError` when none is set."""
        return cast(Webhook, self._transport.call("GET", path_of("webhook")).object())

    def send_test(self) -> str:
        """Sends the event ``webhook.test``, and returns the id of its delivery. It is not repeated when no answer arrives."""
        return str(self._transport.call("POST", path_of("webhook", "test")).object("delivery_id")["delivery_id"])

    def deliveries(
        self,
        *,
        status: Optional[str] = None,
        event: Optional[str] = None,
        from_: Optional[str] = None,
        to: Optional[str] = None,
        limit: int = 100,
    ) -> Iterator[Delivery]:
        """The log, newest first; ``status`` is ``pending``, ``successful`` or ``failed``."""
        filters: Dict[str, Value] = {"limit": limit, "status": status, "event": event, "from": from_, "to": to}
        return follow_list(self._transport, path_of("webhook", "deliveries"), filters)

    def delivery(self, delivery_id: str) -> DeliveryDetail:
        """A delivery with its body and its attempts."""
        return cast(DeliveryDetail, self._transport.call("GET", path_of("webhook", "deliveries", delivery_id)).object())

    def resend(self, delivery_id: str) -> str:
        """Sends the event of a delivery again, and returns the id of the new one. It is not repeated when no answer arrives."""
        path = path_of("webhook", "deliveries", delivery_id, "resend")
        return str(self._transport.call("POST", path).object("delivery_id")["delivery_id"])

    def resend_all(
        self,
        *,
        from_: str,
        to: str,
        status: Optional[str] = None,
        event: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Resend:
        """Sends the events of all deliveries of a period again, each once; ``status`` is ``failed`` or ``successful``."""
        fields = {"from": from_, "to": to, "status": status, "event": event}
        answer = self._transport.call(
            "POST",
            path_of("webhook", "deliveries", "resend"),
            json_body={name: value for name, value in fields.items() if value is not None},
            idempotency_key=idempotency_key or new_idempotency_key(),
        )
        return cast(Resend, answer.object())
