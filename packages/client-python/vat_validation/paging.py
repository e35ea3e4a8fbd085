"""Follows lists of the API page by page."""

from __future__ import annotations

from typing import Any, Dict, Iterator, Optional, Union
from urllib.parse import quote

from .errors import UnexpectedAnswerError
from .transport import Transport

Value = Union[str, int, bool, None]


def path_of(*segments: str) -> str:
    """A path of the API from its segments. An empty one would name another object, so it is a ValueError."""
    if not all(segments):
        raise ValueError("an id is empty")
    return "/v1/" + "/".join(quote(segment, safe="") for segment in segments)


def follow_list(transport: Transport, path: str, filters: Dict[str, Value]) -> Iterator[Any]:
    """All items of a list, read page by page as they are consumed."""
    cursor: Optional[str] = None
    while True:
        answer = transport.call("GET", path, query={**filters, "cursor": cursor})
        page = answer.object()
        data, following = page.get("data"), page.get("next_cursor")
        if not isinstance(data, list) or (following is not None and following == cursor):
            message = f"{path} did not answer with a page of a list"
            raise UnexpectedAnswerError(message, status=answer.status, request_id=answer.request_id)
        yield from data
        if following is None:
            return
        cursor = following
