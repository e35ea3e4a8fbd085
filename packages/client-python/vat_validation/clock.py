"""The clock of the client, which tests replace."""

from __future__ import annotations

import time


class Clock:
    """The time of this machine."""

    def monotonic(self) -> float:
        """Seconds that only ever grow; for durations."""
        return time.monotonic()

    def time(self) -> float:
        """Seconds since 1970."""
        return time.time()

    def sleep(self, seconds: float) -> None:
        """Waits."""
        time.sleep(seconds)
