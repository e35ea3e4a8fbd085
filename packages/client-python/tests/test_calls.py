"""Calls of a local server: retries, errors, and what is sent."""

from __future__ import annotations

import io
import math
import socket
import struct
import tempfile
import threading
import unittest
from pathlib import Path
from typing import Any, Sequence, Union

from vat_validation import (
    ApiError,
    BadRequestError,
    Client,
    Completed,
    ConflictError,
    ForbiddenError,
    NoAnswerError,
    NotFoundError,
    Pending,
    RetryPolicy,
    ServiceError,
    TooManyRequestsError,
    UnauthorizedError,
    UnexpectedAnswerError,
)

from .scripted_server import (
    BROKEN,
    EARLY,
    HALF,
    SILENT,
    FakeClock,
    Reply,
    ScriptedServer,
    reply,
)

CHECK = {"id": "chk_1", "request_id": "req_1", "valid": True}
INTERNAL = reply(500, {"error": {"code": "INTERNAL", "message": "Something failed on our side."}})


def error(status: int, code: str, **extra: Any) -> Reply:
    return reply(status, {"error": {"code": code, "message": "text", **extra}}, {"X-Request-Id": "r-7"})


class Calls(unittest.TestCase):
    def open(self, replies: Sequence[Union[Reply, str]], **options: Any) -> Client:
        self.server = ScriptedServer(replies)
        self.server.__enter__()
        self.addCleanup(self.server.__exit__, None, None, None)
        self.clock = FakeClock()
        return Client(self.server.url, "vat_test_x", **{"clock": self.clock, **options})

    def test_a_failed_call_is_repeated_with_the_same_idempotency_key_and_body(self) -> None:
        limited = error(429, "RATE_LIMITED", retry_after=2)
        running = error(409, "IDEMPOTENCY_IN_PROGRESS", retry_after=1)
        client = self.open(
            [INTERNAL, BROKEN, HALF, limited, running, reply(201, CHECK, {"Idempotency-Replayed": "true"})]
        )
        result = client.checks.create("DE100", reference="order-7", trader={"name": "Müller"})
        assert isinstance(result, Completed)
        self.assertEqual((result.check, result.replayed), (CHECK, True))
        self.assertEqual(len(self.server.calls), 6)
        self.assertEqual(len({call.headers["idempotency-key"] for call in self.server.calls}), 1)
        self.assertEqual(len({call.headers["x-request-id"] for call in self.server.calls}), 1)
        self.assertEqual(len({call.body for call in self.server.calls}), 1)
        for slept, least in zip(self.clock.sleeps, [0.5, 1, 2, 2, 1]):
            self.assertGreaterEqual(slept, least)
            self.assertLessEqual(slept, least * 1.2)

    def test_two_calls_have_different_keys_and_a_given_one_is_sent(self) -> None:
        client = self.open([reply(201, CHECK)] * 3)
        for key in (None, None, "order-7"):
            client.checks.create("DE100", idempotency_key=key)
        keys = [call.headers["idempotency-key"] for call in self.server.calls]
        self.assertEqual(len(set(keys)), 3)
        self.assertEqual(keys[2], "order-7")

    def test_a_call_that_may_not_run_twice_is_repeated_only_when_it_was_refused(self) -> None:
        client = self.open([error(429, "RATE_LIMITED", retry_after=1), BROKEN])
        with self.assertRaises(NoAnswerError):
            client.webhook.send_test()
        self.assertEqual(len(self.server.calls), 2)

    def test_a_deletion_is_done_when_the_object_is_gone_after_an_attempt_whose_answer_was_lost(self) -> None:
        gone = error(404, "NOT_FOUND")
        client = self.open([BROKEN, gone])
        client.watches.delete("wat_1")
        self.assertEqual(len(self.server.calls), 2)
        for replies in (
            [gone],
            [error(429, "RATE_LIMITED", retry_after=1), gone],
            [BROKEN, reply(404, b"no such page")],
        ):
            client = self.open(replies)
            with self.assertRaises(NotFoundError):
                client.watches.delete("wat_1")
            self.assertEqual(len(self.server.calls), len(replies))

    def test_attempts_end_after_the_sixth_and_before_the_total_time(self) -> None:
        client = self.open([BROKEN] * 9)
        with self.assertRaises(NoAnswerError) as raised:
            client.usage()
        self.assertEqual(len(self.server.calls), 6)
        self.assertIsNotNone(raised.exception.__cause__)
        self.assertEqual(raised.exception.request_id, self.server.calls[0].headers["x-request-id"])

        client = self.open([error(429, "RATE_LIMITED", retry_after=25)] * 9)
        with self.assertRaises(TooManyRequestsError) as limited:
            client.usage()
        self.assertEqual(limited.exception.retry_after, 25)
        self.assertLessEqual(sum(self.clock.sleeps), 120)
        self.assertGreater(len(self.server.calls), 3)

    def test_retries_can_be_turned_off(self) -> None:
        client = self.open([INTERNAL], retry=RetryPolicy(attempts=1, total=0))
        with self.assertRaises(ServiceError):
            client.usage()
        self.assertEqual(self.clock.sleeps, [])

    def test_a_server_that_does_not_answer_is_given_up_after_the_time_out(self) -> None:
        client = self.open([SILENT, reply(200, {"period": "2026-11"})], timeout=0.1)
        self.assertEqual(client.usage()["period"], "2026-11")
        self.assertEqual(len(self.server.calls), 2)

    def test_errors_have_a_class_by_status_and_carry_code_message_status_and_request_id(self) -> None:
        expected = [
            (400, "INVALID_REQUESTER", BadRequestError),
            (401, "UNAUTHORIZED", UnauthorizedError),
            (403, "ACCOUNT_DISABLED", ForbiddenError),
            (404, "NOT_FOUND", NotFoundError),
            (405, "METHOD_NOT_ALLOWED", BadRequestError),
            (409, "BATCH_RUNNING", ConflictError),
            (413, "FILE_TOO_LARGE", BadRequestError),
            (422, "IDEMPOTENCY_MISMATCH", BadRequestError),
            (429, "QUOTA_EXCEEDED", TooManyRequestsError),
            (501, "NOT_IMPLEMENTED", ServiceError),
        ]
        client = self.open([error(status, code, reset_at="later") for status, code, _ in expected])
        for status, code, kind in expected:
            with self.subTest(code), self.assertRaises(ApiError) as raised:
                client.usage()
            found = raised.exception
            self.assertIs(type(found), kind)
            self.assertEqual((found.status, found.code, found.message, found.request_id), (status, code, "text", "r-7"))
            self.assertEqual(found.extra, {"reset_at": "later"})
            self.assertEqual(str(found), f"{code}: text (request r-7)")
        self.assertEqual(self.clock.sleeps, [])

    def test_fields_of_a_bad_request_say_what_to_correct(self) -> None:
        fields = [{"path": "reference", "message": "is too long"}]
        client = self.open([error(400, "BAD_REQUEST", fields=fields)])
        with self.assertRaises(BadRequestError) as raised:
            client.checks.create("DE100", reference="x" * 65)
        self.assertEqual(raised.exception.fields, fields)

    def test_answers_that_are_not_the_services_are_errors(self) -> None:
        client = self.open([reply(403, b"<html>proxy</html>"), reply(200, b"<html>login</html>"), reply(200, [1])])
        with self.assertRaises(ForbiddenError) as raised:
            client.usage()
        self.assertEqual(raised.exception.code, "HTTP_403")
        for _ in range(2):
            with self.assertRaises(UnexpectedAnswerError):
                client.usage()

    def test_an_object_without_the_fields_of_the_answer_is_an_unexpected_answer(self) -> None:
        accepted = reply(202, {"request_id": "req_1"})
        client = self.open([reply(200, {}), reply(202, {}), reply(200, {}), accepted, *[reply(200, {})] * 5])
        for call in (
            lambda: client.checks.create("DE100"),
            lambda: client.checks.create("DE100"),
            lambda: client.requests.wait("req_1", timeout=9),
            lambda: client.checks.create("DE100", wait=9),
            lambda: client.checks.link("chk_1"),
            lambda: client.batches.wait("bat_1", timeout=9),
            lambda: client.webhook.send_test(),
            lambda: client.webhook.resend("dlv_1"),
        ):
            with self.assertRaises(UnexpectedAnswerError):
                call()

    def test_a_list_whose_cursors_come_again_ends_with_an_error(self) -> None:
        def page(cursor: str) -> Reply:
            return reply(200, {"data": [CHECK], "next_cursor": cursor})

        for cursors in (["c1", "c1"], ["c1", "c2", "c1", "c2"]):
            client = self.open([page(cursor) for cursor in cursors])
            with self.assertRaises(UnexpectedAnswerError):
                list(client.checks.list())
            self.assertEqual(len(self.server.calls), len(set(cursors)) + 1)
        client = self.open([reply(200, {"data": [CHECK]})])
        with self.assertRaises(UnexpectedAnswerError):
            list(client.checks.list())

    def test_an_event_without_an_id_is_an_unexpected_answer(self) -> None:
        client = self.open([reply(200, {"data": [{"type": "webhook.test"}], "last_event_id": None})] * 2)
        with self.assertRaises(UnexpectedAnswerError):
            client.events.read()
        with self.assertRaises(UnexpectedAnswerError):
            next(iter(client.events.follow()))

    def test_a_redirect_is_not_followed(self) -> None:
        client = self.open([reply(302, None, {"Location": "/elsewhere"}), reply(200, {})])
        with self.assertRaises(ApiError) as raised:
            client.usage()
        self.assertEqual((raised.exception.status, len(self.server.calls)), (302, 1))

    def test_an_outage_while_waiting_for_a_request_is_no_result(self) -> None:
        accepted = {"request_id": "req_1", "give_up_at": "2026-11-21T10:00:20.000Z", "checks": []}
        ended = {
            "id": "req_1",
            "status": "completed",
            "give_up_at": None,
            "last_error": None,
            "reason": None,
            "check": CHECK,
        }
        client = self.open([reply(202, accepted)] + [INTERNAL] * 6 + [reply(200, ended)])
        result = client.checks.create("DE100", wait=math.inf)
        self.assertEqual(result, Completed(CHECK, "req_1"))  # type: ignore[arg-type]

    def test_a_pending_request_says_why_and_can_be_waited_for_later(self) -> None:
        entries = [{"source": "syntax"}, {"source": "vies", "code": "MS_MAX_CONCURRENT_REQ"}]
        accepted = {"request_id": "req_1", "give_up_at": "2026-11-21T10:00:20.000Z", "checks": entries}
        ended = {
            "id": "req_1",
            "status": "completed",
            "give_up_at": None,
            "last_error": None,
            "reason": None,
            "check": CHECK,
        }
        client = self.open([reply(202, accepted), reply(200, ended)])
        pending = client.checks.create("DE100")
        self.assertEqual(pending, Pending("req_1", "2026-11-21T10:00:20.000Z", "MS_MAX_CONCURRENT_REQ"))
        self.assertEqual(client.requests.wait("req_1", 60).status, "completed")
        self.assertEqual(self.clock.sleeps, [])

    def test_an_upload_has_its_file_name_fields_and_the_same_bytes_when_it_is_repeated(self) -> None:
        batch = {"batch_id": "bat_1"}
        client = self.open([INTERNAL] + [reply(201, batch)] * 4)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / 'numbers "1".csv'
            path.write_bytes(b"vat_number\r\nDE100\r\n")
            self.assertEqual(client.batches.upload(path, label="Größe"), batch)
            client.batches.upload(str(path), file_name="other.csv")
            with path.open("rb") as opened:
                client.batches.upload(opened)
            with path.open() as text, self.assertRaises(TypeError):
                client.batches.upload(text)  # type: ignore[arg-type]
        client.coverages.upload(io.BytesIO(b"x").read(), queue_gaps=True, max_age_days=7)
        first, second, third, fourth, fifth = self.server.calls
        self.assertEqual(first.body, second.body)
        self.assertRegex(first.headers["content-type"], "^multipart/form-data; boundary=vat-[0-9a-f]{32}$")
        self.assertIn('name="label"\r\n\r\nGröße\r\n'.encode(), first.body)
        self.assertIn(b'name="file"; filename="numbers %221%22.csv"\r\n', first.body)
        self.assertIn(b"\r\n\r\nvat_number\r\nDE100\r\n\r\n--vat-", first.body)
        self.assertIn(b'filename="other.csv"', third.body)
        self.assertIn(b'filename="numbers %221%22.csv"', fourth.body)
        self.assertIn(b'name="queue_gaps"\r\n\r\ntrue\r\n', fifth.body)
        self.assertIn(b'name="max_age_days"\r\n\r\n7\r\n', fifth.body)

    def test_an_answer_that_comes_before_the_end_of_the_file_is_read(self) -> None:
        client = self.open([EARLY])
        with self.assertRaises(BadRequestError) as raised:
            client.batches.upload(b"x" * 16 * 1024 * 1024)
        self.assertEqual((raised.exception.status, raised.exception.code), (413, "FILE_TOO_LARGE"))
        self.assertEqual(len(self.server.calls), 1)

    def test_a_batch_is_read_by_its_eta(self) -> None:
        def batch(status: str, eta: Any) -> Reply:
            return reply(200, {"batch_id": "bat_1", "status": status, "eta": eta})

        # The clock shows 2026-11-20T09:30:44Z; every wait moves it.
        replies = [
            batch("queued", None),
            batch("running", "2026-11-20T09:30:57.000Z"),
            batch("running", "2026-11-20T09:30:57.000Z"),
            batch("running", "2026-11-20T10:30:00.000Z"),
            batch("completed", None),
        ]
        client = self.open(replies)
        self.assertEqual(client.batches.wait("bat_1", 600)["status"], "completed")
        self.assertEqual(self.clock.sleeps, [5, 8, 1, 30])

        client = self.open([batch("running", None)] * 3)
        self.assertEqual(client.batches.wait("bat_1", 7)["status"], "running")
        self.assertEqual(self.clock.sleeps, [5, 2])

    def test_a_wait_for_a_batch_outlasts_an_outage(self) -> None:
        running, completed = ({"batch_id": "bat_1", "status": status, "eta": None} for status in ("running", "completed"))
        answers = [reply(200, running)] + [INTERNAL] * 6 + [BROKEN] * 6 + [reply(200, completed)]
        self.assertEqual(self.open(answers).batches.wait("bat_1", 600), completed)
        self.assertEqual(len(self.server.calls), 14)

    def test_a_wait_for_a_batch_reads_for_ten_seconds_at_most_near_its_end(self) -> None:
        running = reply(200, {"batch_id": "bat_1", "status": "running", "eta": None})
        slow = reply(503, None, {"Retry-After": "25"})
        client = self.open([running] + [slow] * 9)
        self.assertEqual(client.batches.wait("bat_1", 7)["status"], "running")
        self.assertEqual((self.clock.sleeps, len(self.server.calls)), ([5, 2], 3))

        client = self.open([slow] * 9)
        with self.assertRaises(ServiceError):
            client.batches.wait("bat_1", 0)
        self.assertEqual((self.clock.sleeps, len(self.server.calls)), ([], 1))

    def test_an_answer_that_is_too_large_is_not_requested_again(self) -> None:
        client = self.open([reply(200, b"x" * 1001, {"X-Request-Id": "r-7"}), reply(200, b"x" * 1000)])
        with self.assertRaises(UnexpectedAnswerError) as raised:
            client.transport.call("GET", "/v1/exports/dossier.zip", max_bytes=1000)
        found = raised.exception
        self.assertEqual((found.status, found.request_id, len(self.server.calls)), (200, "r-7", 1))
        self.assertIn("larger than 1000 bytes", found.message)
        answer = client.transport.call("GET", "/v1/exports/dossier.zip", max_bytes=1000)
        self.assertEqual(len(answer.file()), 1000)

    def test_a_reset_handshake_is_the_cause_of_the_error(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:

            def reset() -> None:
                connection, _ = listener.accept()
                connection.recv(1)
                # Closing without a wait for what was not sent resets the connection.
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                connection.close()

            thread = threading.Thread(target=reset)
            thread.start()
            url = f"https://127.0.0.1:{listener.getsockname()[1]}"
            with self.assertRaises(NoAnswerError) as raised:
                Client(url, "vat_test_x", retry=RetryPolicy(attempts=1, total=0)).usage()
            thread.join()
        self.assertIsInstance(raised.exception.__cause__, ConnectionResetError)

    def test_the_page_of_a_proxy_is_no_file(self) -> None:
        page = reply(200, b"<html>login</html>", {"Content-Type": "text/html; charset=utf-8"})
        client = self.open([page] * 2)
        for download in (lambda: client.batches.results("bat_1"), lambda: client.checks.certificate("chk_1")):
            with self.assertRaises(UnexpectedAnswerError):
                download()

    def test_ids_cannot_change_the_path_and_wrong_arguments_are_refused_before_a_call(self) -> None:
        client = self.open([reply(200, CHECK)])
        client.checks.get("../usage?x=/é")
        self.assertEqual(self.server.calls[0].path, "/v1/checks/..%2Fusage%3Fx%3D%2F%C3%A9")
        for call in (lambda: client.checks.get(""), lambda: client.batches.results("bat_1", format="pdf")):
            with self.assertRaises(ValueError):
                call()
        for base_url, key in (
            ("vat.example.com", "k"),
            ("ftp://x", "k"),
            ("https://x?y", "k"),
            ("https://x", ""),
            ("https://x", "a b"),
        ):
            with self.subTest(base_url, key=key), self.assertRaises(ValueError):
                Client(base_url, key)
        self.assertEqual(len(self.server.calls), 1)

    def test_the_address_may_end_with_the_version(self) -> None:
        self.open([reply(200, CHECK)])
        Client(self.server.url + "/v1/", "k").checks.get("chk_1")
        self.assertEqual(self.server.calls[0].path, "/v1/checks/chk_1")

    def test_a_watch_changes_only_what_is_given(self) -> None:
        client = self.open([reply(200, {"watch_id": "wat_1"})] * 2)
        client.watches.update("wat_1", status="paused")
        client.watches.update("wat_1", label=None)
        self.assertEqual([call.body for call in self.server.calls], [b'{"status": "paused"}', b'{"label": null}'])
        self.assertEqual({call.method for call in self.server.calls}, {"PATCH"})


if __name__ == "__main__":
    unittest.main()
