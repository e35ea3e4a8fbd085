"""The client of the service."""

from __future__ import annotations

import ssl
from typing import Dict, Optional, cast

from .checks import Checks, Requests
from .clock import Clock
from .events import Events
from .paging import Value, path_of
from .retry import RetryPolicy
from .transport import Transport
from .types import Status, StatusHistory, Usage
from .uploads import Batches, Coverages
from .watches import Watches
from .webhook_log import WebhookLog


class Client:
    """Calls the VAT Validation Service. One client serves several threads.

    ::

        client = Client("https://vat.example.com", "vat_test_…")
        result = client.checks.create("DE100", wait=60)

    :param base_url: where the service is, without ``/v1``
    :param api_key: ``vat_live_…`` or ``vat_test_…``
    :param timeout: seconds for one attempt; a direct check takes up to about 48
    :param retry: the bounds of retries
    :param ssl_context: for a service with a certificate of your own authority
    :param user_agent: the name of your program, for the operator's logs
    :param clock: replaced by tests

    Proxies are those of the environment (``HTTPS_PROXY``, ``NO_PROXY``).
    """

    def __init__(
        self,
        base_url: str,
        api_key: str,
        *,
        timeout: float = 60.0,
        retry: Optional[RetryPolicy] = None,
        ssl_context: Optional[ssl.SSLContext] = None,
        user_agent: str = "",
        clock: Optional[Clock] = None,
    ) -> None:
        #: For operations without a method of their own: ``client.transport.call("GET", "/v1/anchors").object()``.
        self.transport = Transport(
            base_url,
            api_key,
            timeout=timeout,
            retry=retry or RetryPolicy(),
            clock=clock or Clock(),
            ssl_context=ssl_context,
            user_agent=user_agent,
        )
        self.requests = Requests(self.transport)
        self.checks = Checks(self.transport, self.requests)
        self.batches = Batches(self.transport)
        self.coverages = Coverages(self.transport)
        self.watches = Watches(self.transport)
        self.webhook = WebhookLog(self.transport)
        self.events = Events(self.transport)

    def usage(self) -> Usage:
        """The checks of the current UTC month."""
        return cast(Usage, self.transport.call("GET", path_of("usage")).object())

    def status(self) -> Status:
        """What the service itself observed of each member state in the last minutes."""
        return cast(Status, self.transport.call("GET", path_of("status")).object())

    def status_history(
        self, *, member_state: Optional[str] = None, from_: Optional[str] = None, to: Optional[str] = None
    ) -> StatusHistory:
        """The same by the hour, for at most 31 days; the last 24 hours by default."""
        query: Dict[str, Value] = {"member_state": member_state, "from": from_, "to": to}
        return cast(StatusHistory, self.transport.call("GET", path_of("status", "history"), query=query).object())
