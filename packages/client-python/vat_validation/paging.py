"""Follows lists of the API page by page."""

from __future__ import annotations

from typing import Any, Dict, Iterator, Optional, Set, Union
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
    seen: Set[str] = set()
    while True:
        answer = transport.call("GET", path, query={**filters, "cursor": cursor})
        page = answer.object("data", "next_cursor")
        data, following = page["data"], page["next_cursor"]
        # With a cursor that comes again the same pages would be read without end.
        if not isinstance(data, list) or not (following is None or isinstance(following, str)) or following in seen:
            message = f"{path} did not answer with a page of a list"
            raise UnexpectedAnswerError(message, status=answer.status, request_id=answer.request_id)
        yield from data
        if following is None:
            return
        cursor = following
        seen.add(cursor)
