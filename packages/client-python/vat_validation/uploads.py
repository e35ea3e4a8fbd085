"""Files of numbers: batches and coverages."""

from __future__ import annotations

import hashlib
import os
from datetime import datetime, timezone
from typing import BinaryIO, Dict, Iterator, Optional, Tuple, Union, cast

from .checks import LAST_READ, TEMPORARY, new_idempotency_key
from .paging import Value, follow_list, path_of
from .transport import Transport
from .types import Batch, BatchLine, Coverage, CoverageLine

#: A CSV file or an Excel workbook (.xlsx): its path, its bytes, or a file that is open for reading bytes.
File = Union[str, "os.PathLike[str]", bytes, BinaryIO]

# Seconds between two reads of a batch: by its `eta`, within these bounds.
_LEAST_INTERVAL = 1.0
_INTERVAL_WITHOUT_ETA = 5.0
_LONGEST_INTERVAL = 30.0


class _Uploads:
    """What batches and coverages have in common."""

    _kind = ""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport

    def _upload(
        self, file: File, file_name: Optional[str], fields: Dict[str, Value], idempotency_key: Optional[str]
    ) -> Dict[str, object]:
        name, content = _read_file(file, file_name)
        body, content_type = _form(name, content, fields)
        return self._transport.call(
            "POST",
            path_of(self._kind),
            content=body,
            content_type=content_type,
            idempotency_key=idempotency_key or new_idempotency_key(),
        ).object()

    def results(self, id: str, *, format: str = "csv", delimiter: str = ",", bom: bool = False) -> bytes:
        """The file with the result of every line, as ``csv`` or ``xlsx``; ``delimiter`` and ``bom`` are for CSV."""
        if format not in ("csv", "xlsx"):
            raise ValueError("format must be csv or xlsx")
        query: Dict[str, Value] = {"delimiter": delimiter, "bom": bom} if format == "csv" else {}
        return self._transport.call("GET", path_of(self._kind, id, f"results.{format}"), query=query).file()

    def delete(self, id: str) -> None:
        """Deletes the file and its lines. Checks are not deleted."""
        self._transport.call("DELETE", path_of(self._kind, id))


class Batches(_Uploads):
    """Files whose numbers are checked. A test key cannot use them."""

    _kind = "batches"

    def upload(
        self,
        file: File,
        *,
        file_name: Optional[str] = None,
        label: Optional[str] = None,
        requester_vat_number: Optional[str] = None,
        sheet: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Batch:
        """Checks a file of numbers. The result is the batch as it was created; its lines are checked in the background."""
        fields: Dict[str, Value] = {"label": label, "requester_vat_number": requester_vat_number, "sheet": sheet}
        return cast(Batch, self._upload(file, file_name, fields, idempotency_key))

    def get(self, batch_id: str) -> Batch:
        """The batch as it is now."""
        return cast(Batch, self._transport.call("GET", path_of("batches", batch_id)).object("status", "eta"))

    def wait(self, batch_id: str, timeout: float, *, interval: Optional[float] = None) -> Batch:
        """Reads the batch until its ``status`` is ``completed`` or ``timeout`` seconds have passed, and returns it as it is then.

        It is read when its ``eta`` has passed, at least every 30 seconds, and every five seconds without one; ``interval``
        replaces that. When the service cannot be reached after the first time, the wait continues. Near its end it takes ten
        seconds longer at most when the service hangs.
        """
        clock = self._transport.clock
        deadline = clock.monotonic() + timeout
        batch = self._read(batch_id, deadline)
        while True:
            remaining = deadline - clock.monotonic()
            if batch["status"] == "completed" or remaining <= 0:
                return batch
            clock.sleep(min(_pause(batch["eta"], clock.time()) if interval is None else interval, remaining))
            try:
                batch = self._read(batch_id, deadline)
            except TEMPORARY:
                pass

    def _read(self, batch_id: str, deadline: float) -> Batch:
        within = max(deadline - self._transport.clock.monotonic(), LAST_READ)
        answer = self._transport.call("GET", path_of("batches", batch_id), total=within, timeout=min(within, 60.0))
        return cast(Batch, answer.object("status", "eta"))

    def list(self, *, limit: int = 100) -> Iterator[Batch]:
        """All batches, newest first."""
        return follow_list(self._transport, path_of("batches"), {"limit": limit})

    def lines(
        self, batch_id: str, *, status: Optional[str] = None, valid: Optional[bool] = None, limit: int = 100
    ) -> Iterator[BatchLine]:
        """The lines of a batch in the order of the file; ``status`` is ``queued``, ``done`` or ``failed``."""
        filters: Dict[str, Value] = {"limit": limit, "status": status, "valid": valid}
        return follow_list(self._transport, path_of("batches", batch_id, "lines"), filters)


class Coverages(_Uploads):
    """Files of supplies, compared with the recorded checks. A test key cannot use them."""

    _kind = "coverage"

    def upload(
        self,
        file: File,
        *,
        file_name: Optional[str] = None,
        label: Optional[str] = None,
        max_age_days: Optional[int] = None,
        min_grade: Optional[str] = None,
        queue_gaps: Optional[bool] = None,
        sheet: Optional[str] = None,
        idempotency_key: Optional[str] = None,
    ) -> Coverage:
        """Finds out whether every supply's number was checked in time. The result is complete when the call returns.

        ``queue_gaps`` makes a batch of the uncovered numbers: ``batch_id`` of the result.
        """
        fields: Dict[str, Value] = {
            "label": label,
            "max_age_days": max_age_days,
            "min_grade": min_grade,
            "queue_gaps": queue_gaps,
            "sheet": sheet,
        }
        return cast(Coverage, self._upload(file, file_name, fields, idempotency_key))

    def get(self, coverage_id: str) -> Coverage:
        """A coverage with its counts."""
        return cast(Coverage, self._transport.call("GET", path_of("coverage", coverage_id)).object())

    def list(self, *, limit: int = 100) -> Iterator[Coverage]:
        """All coverages, newest first."""
        return follow_list(self._transport, path_of("coverage"), {"limit": limit})

    def lines(self, coverage_id: str, *, status: Optional[str] = None, limit: int = 100) -> Iterator[CoverageLine]:
        """The supplies in the order of the file, for example all with the status ``missing``."""
        filters: Dict[str, Value] = {"limit": limit, "status": status}
        return follow_list(self._transport, path_of("coverage", coverage_id, "lines"), filters)

    def report(self, coverage_id: str, *, lang: str = "en") -> bytes:
        """The report (PDF): the totals, then the supplies that are not covered."""
        return self._transport.call("GET", path_of("coverage", coverage_id, "report.pdf"), query={"lang": lang}).file()


def _read_file(file: File, file_name: Optional[str]) -> Tuple[str, bytes]:
    if isinstance(file, (bytes, bytearray)):
        return file_name or "numbers.csv", bytes(file)
    if isinstance(file, (str, os.PathLike)):
        with open(file, "rb") as opened:
            return file_name or os.path.basename(os.fspath(file)), opened.read()
    content = file.read()
    if not isinstance(content, bytes):
        raise TypeError("open the file for reading bytes: open(path, 'rb')")
    own_name = getattr(file, "name", None)
    return file_name or (os.path.basename(own_name) if isinstance(own_name, str) else "numbers.csv"), content


def _form(file_name: str, content: bytes, fields: Dict[str, Value]) -> Tuple[bytes, str]:
    """The body of a multipart/form-data call and its type."""
    # From the content, so that a repeated call with the same Idempotency-Key has the same bytes; 128 bits that no file has.
    boundary = f"vat-{hashlib.sha256(content).hexdigest()[:32]}"
    parts = []
    for name, value in fields.items():
        if value is not None:
            text = str(value).lower() if isinstance(value, bool) else str(value)
            parts.append(f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{text}\r\n'.encode())
    # As browsers escape names.
    quoted = file_name.replace('"', "%22").replace("\r", "%0D").replace("\n", "%0A")
    parts.append(
        f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{quoted}"\r\n'
        f"Content-Type: application/octet-stream\r\n\r\n".encode()
    )
    parts.append(content)
    parts.append(f"\r\n--{boundary}--\r\n".encode())
    return b"".join(parts), f"multipart/form-data; boundary={boundary}"


def _pause(eta: Optional[str], now: float) -> float:
    if eta is None:
        return _INTERVAL_WITHOUT_ETA
    try:
        at = datetime.strptime(eta, "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc).timestamp()
    except ValueError:
        return _INTERVAL_WITHOUT_ETA
    return min(_LONGEST_INTERVAL, max(_LEAST_INTERVAL, at - now))
