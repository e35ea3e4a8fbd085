"""The conformance vectors, which every client and receiver shares."""

from __future__ import annotations

import json
import unittest
from pathlib import Path
from typing import Any, Dict, List, Optional

from vat_validation import (
    Client,
    RetryPolicy,
    VerificationError,
    canonical_form,
    hash_check,
    verify_check,
    verify_delivery,
)
from vat_validation.checks import LEAST_POLL_INTERVAL, POLL_INTERVAL
from vat_validation.retry import retry_delay

from .scripted_server import FakeClock, ScriptedServer, reply

VECTORS = Path(__file__).resolve().parents[2] / "receiver" / "vectors" / "conformance.json"
LATER = ("response_hash", "timestamp", "anchor")


class Conformance(unittest.TestCase):
    vectors: Dict[str, Any]

    @classmethod
    def setUpClass(cls) -> None:
        cls.vectors = json.loads(VECTORS.read_text(encoding="utf-8"))

    def vectors_of(self, part: str) -> List[Any]:
        found: List[Any] = self.vectors[part]
        self.assertGreater(len(found), 2)
        return found

    def error_of(self, call: Any) -> Optional[str]:
        try:
            call()
        except VerificationError as error:
            return error.code
        return None

    def test_deliveries_are_accepted_and_refused_for_the_stated_reasons(self) -> None:
        for vector in self.vectors_of("deliveries"):
            with self.subTest(vector["name"]):

                def receive(vector: Any = vector) -> Any:
                    body = vector["body"].encode()
                    return verify_delivery(vector["headers"], body, vector["secrets"], now=vector["received_at"])

                self.assertEqual(self.error_of(receive), vector["error"])
                if vector["error"] is None:
                    delivery = receive()
                    self.assertEqual(delivery.event, json.loads(vector["body"]))
                    self.assertEqual(delivery.id, vector["event_id"])

    def test_both_signatures_of_every_event_verify(self) -> None:
        for vector in self.vectors_of("signatures"):
            standard = {name: vector[key] for name, key in (("webhook-id", "id"), ("webhook-timestamp", "timestamp"))}
            standard["webhook-signature"] = vector["webhook_signature"]
            own = {"x-service-timestamp": vector["timestamp"], "x-service-signature": vector["service_signature"]}
            for headers in (standard, own):
                with self.subTest(vector["name"], headers=headers):
                    now = int(vector["timestamp"])
                    delivery = verify_delivery(headers, vector["body"], vector["secret"], now=now)
                    self.assertEqual(delivery.event, json.loads(vector["body"]))
                    self.assertEqual(delivery.sent_at.timestamp(), now)

    def test_checks_verify_or_do_not_for_the_stated_reasons(self) -> None:
        for vector in self.vectors_of("checks"):
            with self.subTest(vector["name"]):
                self.assertEqual(self.error_of(lambda v=vector: verify_check(v["body"])), vector["error"])
                self.assertEqual(self.error_of(lambda v=vector: verify_check(v["body"].encode())), vector["error"])
                if vector["error"] is None:
                    check = json.loads(vector["body"])
                    self.assertEqual(hash_check(check), vector["response_hash"])
                    hashed = {key: value for key, value in check.items() if key not in LATER}
                    self.assertEqual(canonical_form(hashed), vector["canonical"])

    def test_the_policy_of_retries_is_the_published_one(self) -> None:
        policy = RetryPolicy()
        published = self.vectors["retry_policy"]
        self.assertEqual(
            published,
            {
                "attempts": policy.attempts,
                "first_delay_ms": policy.first_delay * 1000,
                "factor": policy.factor,
                "max_delay_ms": policy.max_delay * 1000,
                "spread": policy.spread,
                "total_ms": policy.total * 1000,
            },
        )

    def test_outcomes_are_retried_or_final(self) -> None:
        for vector in self.vectors_of("retries"):
            with self.subTest(vector["name"]):
                delay = retry_delay(
                    RetryPolicy(),
                    repeatable=vector["repeatable"],
                    attempt=vector["attempt"],
                    elapsed=vector["elapsed_ms"] / 1000,
                    status=vector["status"],
                    headers=vector["headers"],
                    body=vector["body"],
                    now=0,
                )
                self.assertEqual(None if delay is None else round(delay * 1000), vector["wait_ms"])

    def test_a_request_is_read_at_the_stated_interval_until_it_ends_or_the_deadline_passes(self) -> None:
        policy = {"interval_ms": POLL_INTERVAL * 1000, "least_interval_ms": LEAST_POLL_INTERVAL * 1000}
        self.assertEqual(policy, self.vectors["poll_policy"])
        for vector in self.vectors_of("polls"):
            with self.subTest(vector["name"]):
                accepted: Dict[str, Any] = {
                    "request_id": "req_1",
                    "status": "pending",
                    "give_up_at": None,
                    "checks": [],
                }
                replies = []
                for at, answer in enumerate(vector["answers"]):
                    headers = {} if answer["retry_after"] is None else {"Retry-After": answer["retry_after"]}
                    body = accepted if at == 0 else request_with(answer["status"])
                    failed = answer["status"] is None
                    replies.append(reply(503) if failed else reply(202 if at == 0 else 200, body, headers))
                clock = FakeClock()
                with ScriptedServer(replies) as server:
                    once = RetryPolicy(attempts=1, total=0)
                    client = Client(server.url, "vat_test_x", clock=clock, retry=once)
                    result = client.checks.create("DE100", wait=vector["deadline_ms"] / 1000)
                self.assertEqual(result.status, vector["outcome"])
                self.assertEqual([round(seconds * 1000) for seconds in clock.sleeps], vector["waits_ms"])
                paths = [call.path for call in server.calls]
                self.assertEqual(paths, ["/v1/checks"] + ["/v1/requests/req_1"] * len(vector["waits_ms"]))

    def test_lists_are_followed_page_by_page(self) -> None:
        for vector in self.vectors_of("lists"):
            with self.subTest(vector["name"]):
                with ScriptedServer([reply(200, page["answer"]) for page in vector["pages"]]) as server:
                    client = Client(server.url, "vat_test_x", clock=FakeClock())
                    query = {name: json.loads(value) for name, value in vector["query"].items()}
                    found = list(client.checks.list(**query))
                self.assertEqual([check["id"] for check in found], vector["ids"])
                limit = {} if "limit" in vector["query"] else {"limit": "100"}
                self.assertEqual(
                    [call.query for call in server.calls], [{**limit, **p["query"]} for p in vector["pages"]]
                )

    def test_events_are_followed_from_one_to_the_next(self) -> None:
        for vector in self.vectors_of("events"):
            with self.subTest(vector["name"]):
                following = {"data": [{"event_id": "evt_end", "body": {}}], "last_event_id": "evt_end"}
                answers = [*vector["answers"], following]
                with ScriptedServer([reply(200, answer) for answer in answers]) as server:
                    feed = Client(server.url, "vat_test_x", clock=FakeClock()).events.follow(vector["after"])
                    seen = []
                    for event in feed:
                        if event["event_id"] == "evt_end":
                            break
                        seen.append(event["event_id"])
                self.assertEqual(seen, vector["event_ids"])
                self.assertEqual(feed.position, vector["continue_after"])
                expected = [answer["after"] for answer in vector["answers"]] + [vector["continue_after"]]
                self.assertEqual([call.query["after"] for call in server.calls], expected)


def request_with(status: str) -> Dict[str, Any]:
    return {
        "id": "req_1",
        "object": "request",
        "status": status,
        "give_up_at": None,
        "last_error": None,
        "reason": "UPSTREAM_NO_ANSWER" if status == "abandoned" else None,
        "check": {"id": "chk_1"} if status == "completed" else None,
    }


if __name__ == "__main__":
    unittest.main()
