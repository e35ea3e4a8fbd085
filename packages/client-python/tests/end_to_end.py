"""Calls of a running service, in a world that apps/api/src/python-client.test.ts starts.

The environment has BASE_URL, LIVE_KEY, VAT_TEST_KEY, VIES_URL (the sandbox), WEBHOOK_SECRET, ARRIVALS, a folder where the
receiver of the world writes each delivery, HTTPS_URL, which is that receiver, and CA_FILE with its authority.
"""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import re
import ssl
import time
import unittest
import urllib.request
from pathlib import Path
from typing import Any, Callable, List, Optional, TypeVar

from vat_validation import (
    BadRequestError,
    Client,
    Completed,
    ForbiddenError,
    NoAnswerError,
    NotFoundError,
    Pending,
    UnauthorizedError,
    UnexpectedAnswerError,
    VerificationError,
    hash_check,
    verify_check,
    verify_delivery,
)

from .scripted_server import FakeClock

T = TypeVar("T")
ENV = os.environ
DOWN = {"kind": "error", "code": "MS_UNAVAILABLE"}


def script(vat_number: str, answers: List[Any]) -> None:
    """Sets the answers of the upstream for one number; the last one repeats."""
    body = json.dumps({"answers": answers, "then": "repeat"}).encode()
    url = f"{ENV['VIES_URL']}/_control/numbers/{vat_number}"
    request = urllib.request.Request(url, body, {"Content-Type": "application/json"}, method="PUT")
    with urllib.request.urlopen(request, timeout=10) as response:
        response.read()


def until(what: str, read: Callable[[], Optional[T]]) -> T:
    """What `read` returns, as soon as that is not None."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        found = read()
        if found is not None:
            return found
        time.sleep(0.05)
    raise AssertionError(f"{what} did not happen within 20 seconds")


class EndToEnd(unittest.TestCase):
    client: Client

    @classmethod
    def setUpClass(cls) -> None:
        cls.client = Client(ENV["BASE_URL"], ENV["LIVE_KEY"])

    def test_a_check_its_evidence_and_its_hash(self) -> None:
        trader = {"name": "Exemple S.A.", "city": "Paris"}
        result = self.client.checks.create("FR 40 303 265 045", reference="order-7", trader=trader)  # type: ignore[arg-type]
        assert isinstance(result, Completed)
        self.assertEqual((result.check["vat_number"], result.check["reference"]), ("FR40303265045", "order-7"))
        check = self.client.checks.get(result.check["id"])
        self.assertEqual(check, result.check)
        verify_check(check)
        self.assertEqual(hash_check(check), check["response_hash"])
        with self.assertRaises(VerificationError) as raised:
            verify_check({**check, "valid": not check["valid"]})
        self.assertEqual(raised.exception.code, "HASH_MISMATCH")
        evidence = json.loads(self.client.checks.evidence(check["id"]))
        verify_check({**evidence, "response_hash": check["response_hash"]})
        self.assertIn(f"/verify/{check['id']}.", self.client.checks.link(check["id"]))
        self.assertTrue(self.client.checks.certificate(check["id"], lang="de").startswith(b"%PDF-"))

    def test_the_first_check_of_the_readme(self) -> None:
        readme = (Path(__file__).resolve().parents[1] / "README.md").read_text(encoding="utf-8")
        block = re.search(r"^## A first check\n\n```python\n(.*?)^```$", readme, re.DOTALL | re.MULTILINE)
        assert block
        program = block[1].replace("http://127.0.0.1:3000", ENV["BASE_URL"])
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(program, "README.md", "exec"), {})
        self.assertEqual(printed.getvalue(), "DE100 is valid\n")

    def test_the_same_idempotency_key_is_one_check(self) -> None:
        results = [self.client.checks.create("DE12", idempotency_key="python-1") for _ in range(2)]
        first, second = results
        assert isinstance(first, Completed) and isinstance(second, Completed)
        self.assertEqual(first.check, second.check)
        self.assertEqual((first.replayed, second.replayed), (False, True))
        with self.assertRaises(BadRequestError) as raised:
            self.client.checks.create("DE13", idempotency_key="python-1")
        self.assertEqual((raised.exception.status, raised.exception.code), (422, "IDEMPOTENCY_MISMATCH"))

    def test_a_202_is_waited_for(self) -> None:
        script("DE136695976", [DOWN])
        pending = self.client.checks.create("DE136695976")
        assert isinstance(pending, Pending)
        self.assertIsInstance(self.client.requests.wait(pending.request_id, 0), Pending)
        script("DE136695976", ["valid"])
        result = self.client.requests.wait(pending.request_id, 20, interval=0.1)
        assert isinstance(result, Completed)
        self.assertEqual((result.check["valid"], result.request_id), (True, pending.request_id))
        verify_check(result.check)

    def test_lists_are_followed_to_their_end(self) -> None:
        ids = []
        for _ in range(3):
            result = self.client.checks.create("SE1", reference="listed")
            assert isinstance(result, Completed)
            ids.append(result.check["id"])
        found = [check["id"] for check in self.client.checks.list(reference="listed", valid=False, limit=1)]
        self.assertEqual(found, ids[::-1])

    def test_a_delivery_is_verified(self) -> None:
        delivery_id = self.client.webhook.send_test()

        def read() -> Optional[Any]:
            return self.client.webhook.delivery(delivery_id) if arrival.exists() else None

        arrival = Path(ENV["ARRIVALS"]) / f"{delivery_id}.json"
        delivery = until("the delivery", read)
        received = json.loads(arrival.read_text(encoding="utf-8"))
        verified = verify_delivery(received["headers"], received["body"], ENV["WEBHOOK_SECRET"])
        self.assertEqual(verified.event["event"], "webhook.test")
        self.assertEqual((verified.id, verified.delivery_id), (delivery["event_id"], delivery_id))
        self.assertEqual(verified.event, delivery["body"])
        with self.assertRaises(VerificationError) as raised:
            verify_delivery(received["headers"], received["body"] + " ", ENV["WEBHOOK_SECRET"])
        self.assertEqual(raised.exception.code, "SIGNATURE_MISMATCH")
        self.assertIn(delivery_id, [each["delivery_id"] for each in self.client.webhook.deliveries()])
        self.assertTrue(ENV["WEBHOOK_SECRET"].startswith(self.client.webhook.get()["secret_prefix"]))
        again = self.client.webhook.resend(delivery_id)
        self.assertEqual(self.client.webhook.delivery(again)["event_id"], delivery["event_id"])
        resent = self.client.webhook.resend_all(from_="2020-01-01T00:00:00Z", to="2020-01-02T00:00:00Z", status="failed")
        self.assertEqual((resent["matched"], resent["queued"]), (0, 0))

    def test_events_are_followed_and_listed(self) -> None:
        delivery_id = self.client.webhook.send_test()
        event_id = self.client.webhook.delivery(delivery_id)["event_id"]
        event = next(each for each in self.client.events.follow("start", wait=1) if each["event_id"] == event_id)
        self.assertEqual(self.client.events.get(event_id), event)
        self.assertIn(event, list(self.client.events.list(type="webhook.test", limit=1)))

    def test_a_batch_is_uploaded_waited_for_and_read(self) -> None:
        file = "vat_number;reference\nDE12;S-1\nFR 83 404 833 048;S-2\n12345678;S-3\n".encode()
        batch = self.client.batches.upload(file, file_name="suppliers.csv", label="Größe")
        self.assertEqual((batch["file_name"], batch["label"], batch["total"]), ("suppliers.csv", "Größe", 3))
        batch = self.client.batches.wait(batch["batch_id"], 20, interval=0.1)
        self.assertEqual((batch["status"], batch["done"], batch["failed"]), ("completed", 2, 1))
        lines = list(self.client.batches.lines(batch["batch_id"], limit=2))
        self.assertEqual([line["reference"] for line in lines], ["S-1", "S-2", "S-3"])
        failed = [
            line["error"]["code"]
            for line in self.client.batches.lines(batch["batch_id"], status="failed")
            if line["error"]
        ]
        self.assertEqual(failed, ["BAD_REQUEST"])
        text = self.client.batches.results(batch["batch_id"], delimiter=";").decode()
        rows = list(csv.reader(io.StringIO(text), delimiter=";"))
        self.assertEqual([row[1] for row in rows], ["reference", "S-1", "S-2", "S-3"])
        self.assertTrue(self.client.batches.results(batch["batch_id"], format="xlsx").startswith(b"PK"))
        self.assertEqual([each["batch_id"] for each in self.client.batches.list()], [batch["batch_id"]])
        self.client.batches.delete(batch["batch_id"])
        with self.assertRaises(NotFoundError):
            self.client.batches.get(batch["batch_id"])

    def test_a_file_that_is_too_large_is_refused(self) -> None:
        with self.assertRaises(BadRequestError) as raised:
            self.client.batches.upload(b"DE136695976\n" * 200_000)
        self.assertEqual((raised.exception.status, raised.exception.code), (413, "FILE_TOO_LARGE"))

    def test_a_coverage_is_uploaded_and_read(self) -> None:
        file = "vat_number;supply_date;reference\nDE136695976;2020-01-31;R-1\n".encode()
        coverage = self.client.coverages.upload(file, max_age_days=7, min_grade="named", queue_gaps=False)
        self.assertEqual((coverage["total"], coverage["missing"], coverage["max_age_days"]), (1, 1, 7))
        coverage_id = coverage["coverage_id"]
        (line,) = self.client.coverages.lines(coverage_id, status="missing")
        self.assertEqual((line["supply_date"], line["reference"]), ("2020-01-31", "R-1"))
        self.assertIn(b"R-1", self.client.coverages.results(coverage_id))
        self.assertTrue(self.client.coverages.report(coverage_id, lang="fr").startswith(b"%PDF-"))
        self.assertEqual([self.client.coverages.get(coverage_id)], list(self.client.coverages.list()))
        self.client.coverages.delete(coverage_id)
        self.assertEqual(list(self.client.coverages.list()), [])

    def test_a_watch_is_made_changed_and_deleted(self) -> None:
        watch = self.client.watches.create("FR 40 303 265 045", frequency="weekly", label="supplier 7")
        watch_id = watch["watch_id"]
        changed = self.client.watches.update(watch_id, status="paused", label=None)
        self.assertEqual((changed["status"], changed["label"], changed["frequency"]), ("paused", None, "weekly"))
        self.assertEqual(self.client.watches.get(watch_id), changed)
        self.assertEqual(list(self.client.watches.changes(watch_id)), [])
        self.assertEqual(list(self.client.watches.list()), [changed])
        self.client.watches.delete(watch_id)
        self.assertEqual(list(self.client.watches.list()), [])

    def test_usage_and_status(self) -> None:
        self.assertEqual(self.client.usage()["plan"], "business")
        self.assertEqual(len(self.client.status()["member_states"]), 28)
        history = self.client.status_history(member_state="DE", from_="2026-01-01", to="2026-01-02")
        self.assertEqual(history["data"], [])

    def test_a_certificate_is_verified_before_the_key_is_sent(self) -> None:
        clock = FakeClock()
        with self.assertRaises(NoAnswerError) as raised:
            Client(ENV["HTTPS_URL"], ENV["VAT_TEST_KEY"], clock=clock).usage()
        self.assertIsInstance(raised.exception.__cause__, ssl.SSLCertVerificationError)
        self.assertEqual(clock.sleeps, [])
        # The server behind it is no API: it answers everything with 204.
        trusting = Client(
            ENV["HTTPS_URL"], ENV["VAT_TEST_KEY"], ssl_context=ssl.create_default_context(cafile=ENV["CA_FILE"])
        )
        with self.assertRaises(UnexpectedAnswerError) as unexpected:
            trusting.usage()
        self.assertEqual(unexpected.exception.status, 204)

    def test_keys_are_refused_with_the_services_errors(self) -> None:
        with self.assertRaises(UnauthorizedError) as unauthorized:
            Client(ENV["BASE_URL"], "vat_live_wrong").usage()
        self.assertEqual((unauthorized.exception.status, unauthorized.exception.code), (401, "UNAUTHORIZED"))
        self.assertRegex(unauthorized.exception.request_id or "", "^py-[0-9a-f]{32}$")
        sandbox = Client(ENV["BASE_URL"], ENV["VAT_TEST_KEY"])
        result = sandbox.checks.create("DE100")
        assert isinstance(result, Completed)
        self.assertTrue(result.check.get("test"))
        verify_check(result.check)
        with self.assertRaises(ForbiddenError) as forbidden:
            sandbox.watches.create("DE100", frequency="weekly")
        self.assertEqual(forbidden.exception.code, "TEST_KEY_NOT_ALLOWED")
