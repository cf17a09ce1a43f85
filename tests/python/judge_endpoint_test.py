"""Tests python -m lie_cluster.judge against a local server.

The server records requests and sends scripted answers.

usage: judge_endpoint_test.py BIN WORK [unittest arguments]        (exit status 77: openai, h5py or PyYAML is missing)
"""
import glob
import hashlib
import http.server
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import unittest

try:
    import h5py  # noqa: F401
    import openai  # noqa: F401
    import yaml  # noqa: F401
except ImportError as error:
    print("skipped:", error, "(scripts/check_python.sh runs this test in an environment that has it)")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[2]
if os.environ.get("LIE_INSTALLED") is None:  # scripts/check_python.sh tests the installed package
    sys.path.insert(0, str(ROOT / "python"))
BIN = pathlib.Path(sys.argv[1]).resolve()
TOKENIZER = ROOT / "assets/count_pairs/model"
KEY = "sk-test-0123456789"
TOPICS = ["verification", "backtracking", "subgoals", "backward_chaining", "enumeration", "graph"]
N = len(TOPICS)  # questions about a response


def key_of(body):
    """Returns the cache key of a request, in the format of the former C++ program."""
    text = json.dumps(body, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def topic_of(content):
    """Returns the topic of a request. Each prompt names its own behavior first."""
    names = {"verification": "is verification:", "backtracking": "is backtracking:", "subgoals": "is subgoal setting:",
             "backward_chaining": "is backward chaining:", "enumeration": "is enumeration:",
             "graph": "reasoning as a graph"}
    return next(topic for topic, words in names.items() if words in content)


def completion(text, finish="stop", **message):
    return 200, {"choices": [{"message": {"role": "assistant", "content": text, **message}, "finish_reason": finish}],
                 "usage": {"prompt_tokens": 100, "completion_tokens": 10}}


def good(request, number):
    """Answers with one verification and a graph of depth 3 and width 2. All other counts are 0."""
    topic = topic_of(request["messages"][0]["content"])
    if topic == "graph":
        return completion('Four steps.\n```json\n{"builds_on": [[], [1], [1], [2, 3]]}\n```')
    return completion('It checks once.\n{"count": %d}' % (topic == "verification"))


class Server:
    """Answers each request with play(request, number) -> (status, object or bytes[, headers]).

    `number` counts the earlier requests with the same body.
    """

    def __init__(self, play):
        self.requests, self.headers, self.keys, self.play, self.lock = [], [], [], play, threading.Lock()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # sends head and body in one packet

            def do_POST(self):
                data = self.rfile.read(int(self.headers["Content-Length"]))
                body = json.loads(data)
                with outer.lock:
                    outer.keys.append(key_of(body))
                    number = outer.requests.count(body)
                    outer.requests.append(body)
                    outer.headers.append((self.path, {name.lower(): value for name, value in self.headers.items()}))
                status, answer, *headers = outer.play(body, number)
                data = answer if isinstance(answer, bytes) else json.dumps(answer).encode()
                self.send_response(status)
                for name, value in (headers[0] if headers else {}).items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *_):
                pass

        class Quiet(http.server.ThreadingHTTPServer):
            def handle_error(self, *_):  # the client was killed
                pass

        self.server = Quiet(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()
        self.url = "http://127.0.0.1:%d/v1" % self.server.server_address[1]

    def close(self):
        self.server.shutdown()
        self.server.server_close()


class JudgeEndpoint(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        self.rows = self.write([{"prompt": "1+1?", "response": "2, since 1+1=2. Let me check: 2-1=1.", "step": 1},
                                {"prompt": "2+2?", "response": "4", "step": 2}])

    def write(self, rows):
        path = os.path.join(self.folder, "rows.jsonl")
        with open(path, "w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
        return path

    def serve(self, play):
        server = Server(play)
        self.addCleanup(server.close)
        return server

    def command(self, url, *options):
        return [sys.executable, "-m", "lie_cluster.judge", self.rows, "--endpoint", url, "--model", "judge-1", "--retry-seconds", "0.001",
                "--json", os.path.join(self.folder, "report.json"), *options]

    environment = {**{k: v for k, v in os.environ.items() if not k.lower().endswith("_proxy")}, "LIE_JUDGE_API_KEY": KEY,
                   "OPENAI_ORG_ID": "org-secret", "PYTHONPATH": os.pathsep.join(sys.path)}

    def judge(self, url, *options):
        return subprocess.run(self.command(url, *options), env=self.environment, capture_output=True, text=True, timeout=120)

    def report(self):
        with open(os.path.join(self.folder, "report.json"), encoding="utf-8") as file:
            return json.load(file)["sources"][0]

    def value(self, column, measure):
        return self.report()["ranges"][column]["measures"][measure]["mean"]["value"]

    def test_answers_become_a_table_by_step_ranges(self):
        server = self.serve(good)
        done = self.judge(server.url)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(server.requests), 2 * N)
        self.assertEqual(sorted(topic_of(r["messages"][0]["content"]) for r in server.requests), sorted(2 * TOPICS))
        self.assertTrue(all(path == "/v1/chat/completions" for path, _ in server.headers))
        self.assertTrue(all(headers["authorization"] == "Bearer " + KEY for _, headers in server.headers))
        self.assertFalse(any("org-secret" in headers.values() for _, headers in server.headers))
        for column in (0, 1):
            self.assertEqual([self.value(column, m) for m in ("verification", "backtracking", "graph_depth", "graph_width")],
                             [1, 0, 3, 2])
        self.assertEqual(self.report()["answers"]["ok"], 2 * N)
        self.assertRegex(done.stdout, r"verification +1\.00 +1\.00\n +\[1\.00, 1\.00\] +\[1\.00, 1\.00\]\n")
        self.assertIn(f"asked {2 * N}, from the cache 0; {200 * N} + {20 * N} tokens", done.stdout)

    def test_the_responses_of_a_run_are_sampled_over_its_steps(self):
        self.rows = os.path.join(self.folder, "run")
        subprocess.run([BIN / "write_example_run", self.rows, "1", "90"], check=True)
        server = self.serve(good)
        self.assertIn("holds no tokenizer.json", self.judge(server.url).stderr)
        for name in ("tokenizer.json", "tokenizer_config.json"):
            shutil.copy(TOKENIZER / name, os.path.join(self.rows, "checkpoints/step-000040"))
        done = self.judge(server.url, "--samples", "40")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(sorted(row["step"] for row in self.report()["rows"]), list(range(1, 41)))
        self.assertEqual([r["first_step"] for r in self.report()["ranges"]], [1, 11, 21, 31])
        self.assertTrue(all("target 11:" in r["messages"][0]["content"] for r in server.requests))
        self.assertTrue(os.path.exists(os.path.join(self.rows, "judge/answers.jsonl")))
        self.judge(server.url, "--samples", "9", "--evaluation", "--steps", "0", "--steps", "10-20")
        self.assertEqual([row["step"] for row in self.report()["rows"]], 5 * [0] + 2 * [10] + 2 * [20])

    def test_a_second_run_sends_no_request_and_prints_the_same_report(self):
        server = self.serve(good)
        self.judge(server.url)
        first = self.report()
        again = self.judge(server.url)
        self.assertEqual((again.returncode, len(server.requests)), (0, 2 * N))
        self.assertEqual(self.report()["rows"], first["rows"])
        self.assertIn(f"asked 0, from the cache {2 * N}", again.stdout)
        self.judge(server.url, "--temperature", "0.5")  # another question
        self.assertEqual(len(server.requests), 4 * N)

    def test_equal_responses_share_one_request_per_topic(self):
        self.rows = self.write([{"prompt": "1+1?", "response": "2"}] * 3)
        server = self.serve(good)
        self.assertEqual(self.judge(server.url).returncode, 0)
        self.assertEqual(len(server.requests), N)
        self.assertEqual(self.report()["ranges"][0]["measures"]["verification"]["responses"], 3)

    def test_the_api_key_is_in_no_file_and_no_output(self):
        server = self.serve(lambda request, number: (400, {"error": "bad key"}))
        done = self.judge(server.url)
        texts = [done.stdout, done.stderr]
        for path in glob.glob(self.folder + "/**/*.json*", recursive=True):
            if os.path.isfile(path):
                texts.append(pathlib.Path(path).read_text(encoding="utf-8"))
        self.assertEqual(len(texts), 5)  # report, rows and answers
        self.assertFalse(any(KEY in text for text in texts))
        refused = self.judge("http://user:%s@127.0.0.1:1/v1" % KEY)
        self.assertEqual(refused.returncode, 1)
        self.assertNotIn(KEY, refused.stderr)

    def play_first_topic(self, answer):
        """Answers questions about verification with `answer` and all others with good().

        Returns the code of the missing answers and the server.
        """
        def play(request, number):
            is_first = topic_of(request["messages"][0]["content"]) == "verification"
            return answer if is_first else good(request, number)
        server = self.serve(play)
        done = self.judge(server.url)
        found = {row["code"] for row in self.report()["missing"]}
        self.assertEqual(len(self.report()["missing"]), 2)
        self.assertEqual(len(found), 1)
        self.assertEqual(done.returncode, 2)
        self.assertEqual(self.report()["ranges"][0]["measures"]["verification"], {"responses": 0})
        self.assertRegex(done.stdout, r"\nverification +-")
        self.assertIn(f"2 of {2 * N} answers are missing", done.stderr)
        return found.pop(), server

    def test_an_answer_without_a_count_is_unparsable(self):
        for text in ('{"count": N}', '{"count": -1}', '{"count": 1.5}', '{"count": "1"}', '{"count": 1, "sure": true}',
                     '{"count": 10001}', "three", '{"count": 3} as I said', '{"count": 3', "", '{"Count": 3}'):
            with self.subTest(text), tempfile.TemporaryDirectory() as self.folder:
                self.rows = self.write([{"prompt": "a", "response": "b"}, {"prompt": "c", "response": "d"}])
                self.assertEqual(self.play_first_topic(completion(text))[0], "unparsable")

    def test_a_refusal_is_reported_as_refusal(self):
        for answer in (completion(None, refusal="I will not."), completion("", "content_filter"),
                       completion("I'm sorry, but I can't help with that.")):
            with self.subTest(str(answer)), tempfile.TemporaryDirectory() as self.folder:
                self.rows = self.write([{"prompt": "a", "response": "b"}, {"prompt": "c", "response": "d"}])
                self.assertEqual(self.play_first_topic(answer)[0], "refused")

    def test_an_answer_at_the_token_limit_is_truncated_and_not_retried(self):
        code, server = self.play_first_topic(completion('{"count": 1}', "length"))
        self.assertEqual(code, "truncated")
        asked = len(server.requests)
        self.assertEqual(self.judge(server.url).returncode, 2)
        self.assertEqual(len(server.requests), asked)

    def test_a_reply_without_a_completion_is_a_bad_reply_and_is_retried(self):
        for body in (b"<html>", b"{}", b'{"choices": []}', b'{"choices": [{"message": 3}]}', b"[" * 100000, b"\xff\xfe"):
            with self.subTest(body[:20]), tempfile.TemporaryDirectory() as self.folder:
                self.rows = self.write([{"prompt": "a", "response": "b"}, {"prompt": "c", "response": "d"}])
                code, server = self.play_first_topic((200, body))
                self.assertEqual(code, "bad_reply")
                server.play = good
                self.assertEqual(self.judge(server.url).returncode, 0)

    def test_status_429_is_retried_after_the_time_that_the_server_requests(self):
        times = {}

        def play(request, number):
            times.setdefault(json.dumps(request), []).append(os.times().elapsed)
            return (429, {"error": "slow down"}, {"Retry-After": "1"}) if number == 0 else good(request, number)
        server = self.serve(play)
        done = self.judge(server.url, "--concurrency", "10")
        self.assertEqual((done.returncode, len(server.requests)), (0, 4 * N))
        self.assertTrue(all(second - first > 0.9 for first, second in times.values()))

    def test_status_500_is_retried_up_to_the_limit_and_then_reported(self):
        server = self.serve(lambda request, number: (500, {"error": "broken"}))
        done = self.judge(server.url, "--retries", "2", "--samples", "1")
        self.assertEqual((done.returncode, len(server.requests)), (2, 3 * N))
        self.assertEqual(self.report()["answers"]["http_error"], N)
        self.assertIn("status 500", done.stdout)
        self.assertIn(f"{N} of {N} answers are missing", done.stderr)

    def test_status_401_is_not_retried_and_stops_the_requests(self):
        self.rows = self.write([{"prompt": str(i), "response": "b"} for i in range(20)])
        server = self.serve(lambda request, number: (401, {"error": "no such key"}))
        done = self.judge(server.url, "--concurrency", "1")
        self.assertEqual((done.returncode, len(server.requests)), (2, 8))
        self.assertEqual(self.report()["answers"], {**dict.fromkeys(self.report()["answers"], 0), "http_error": 8, "not_asked": 20 * N - 8})

    def test_a_refused_connection_is_reported(self):
        with socket.socket() as unused:
            unused.bind(("127.0.0.1", 0))  # not listening
            done = self.judge("http://127.0.0.1:%d/v1" % unused.getsockname()[1], "--retries", "1")
        self.assertEqual(done.returncode, 2)
        self.assertEqual(self.report()["answers"]["unreachable"] + self.report()["answers"]["not_asked"], 2 * N)
        self.assertIn("unreachable", done.stdout)

    def test_a_killed_run_resumes_without_repeating_answered_requests(self):
        self.rows = self.write([{"prompt": str(i), "response": "b"} for i in range(20)])
        enough, killed = threading.Event(), threading.Event()

        def play(request, number):
            if len(server.requests) >= 30:  # delays all later answers
                enough.set()
                killed.wait(60)
            return good(request, number)
        server = self.serve(play)
        process = subprocess.Popen(self.command(server.url), env=self.environment, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL)
        self.assertTrue(enough.wait(60))
        process.send_signal(signal.SIGKILL)
        process.wait()
        killed.set()
        with open(self.rows + ".judge/answers.jsonl", "rb+") as file:
            kept = {json.loads(line)["key"] for line in file}
            file.write(b'{"key": "torn')  # left by a kill within a write
        self.assertGreaterEqual(len(kept), 20)
        other = self.serve(good)  # the same judge at another address
        done = self.judge(other.url)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(other.keys), 20 * N - len(kept))
        self.assertFalse(kept & set(other.keys))
        self.assertEqual(self.report()["answers"]["ok"], 20 * N)

    def test_a_damaged_line_of_the_cache_is_named(self):
        server = self.serve(good)
        self.judge(server.url)
        with open(self.rows + ".judge/answers.jsonl", "r+b") as file:
            file.write(b"#")
        done = self.judge(server.url)
        self.assertEqual(done.returncode, 1)
        self.assertIn("answers.jsonl:1: expected a JSON object", done.stderr)

    def test_unicode_is_sent_and_received_unchanged(self):
        text = "Пусть x ≥ √2 — \U0001f600 \u2028 \"quoted\" \\frac{1}{2}\n\ttab \x00 end"
        self.rows = self.write([{"prompt": "多少？", "response": text}])
        server = self.serve(lambda request, number: completion("Ναί, 一次。\n{\"count\": 2}") if
                            topic_of(request["messages"][0]["content"]) != "graph" else good(request, number))
        self.assertEqual(self.judge(server.url).returncode, 0)
        self.assertTrue(all(text in r["messages"][0]["content"] and "多少？" in r["messages"][0]["content"]
                            for r in server.requests))
        self.assertEqual(self.judge(server.url).returncode, 0)
        self.assertEqual(self.value(0, "subgoals"), 2)

    def test_a_huge_response_is_judged_without_its_middle_and_this_is_reported(self):
        self.rows = self.write([{"prompt": "a", "response": "begin " + "é" * 500_000 + " end"}])
        server = self.serve(good)
        done = self.judge(server.url, "--max-bytes", "5000")
        self.assertEqual(done.returncode, 0)
        self.assertIn("responses longer than 5000 bytes, judged without their middle: 1", done.stdout)
        self.assertEqual(self.report()["cut_responses"], 1)
        for request in server.requests:
            content = request["messages"][0]["content"]
            self.assertLess(len(content.encode()), 8000)
            self.assertTrue("begin é" in content and "é end" in content and "bytes left out here" in content)
            self.assertNotIn("\ufffd", content)

    def test_a_huge_reply_is_refused(self):
        server = self.serve(lambda request, number: (200, b" " * (17 << 20)))
        self.judge(server.url, "--samples", "1", "--retries", "0", "--concurrency", "1")
        self.assertEqual(self.report()["answers"]["bad_reply"], N)
        self.assertIn("more than 16 MiB", self.report()["missing"][0]["detail"])

    def test_two_passes_differ_in_seed_and_order_and_their_agreement_is_reported(self):
        def play(request, number):
            content = request["messages"][0]["content"]
            if topic_of(content) == "subgoals" and request["seed"] == 8 and "1+1" in content:
                return completion('{"count": 3}')
            return good(request, number)
        server = self.serve(play)
        done = self.judge(server.url, "--passes", "2", "--judge-seed", "7")
        self.assertEqual((done.returncode, len(server.requests)), (0, 4 * N))
        starts = {(r["seed"], r["messages"][0]["content"].startswith("<problem>")) for r in server.requests}
        self.assertEqual(starts, {(7, False), (8, True)})
        agreement = self.report()["agreement"]
        self.assertEqual(agreement["verification"]["exactly_equal"]["value"], 1)
        self.assertEqual(agreement["subgoals"]["exactly_equal"]["value"], 0.5)
        self.assertEqual(agreement["subgoals"]["kappa_of_presence"], 0)
        self.assertEqual(self.value(0, "subgoals"), 1.5)  # the mean of 0 and 3
        self.assertIn("kappa of presence", done.stdout)

    def test_the_rate_limit_holds_and_the_cost_is_computed(self):
        server = self.serve(good)
        start = os.times().elapsed
        done = self.judge(server.url, "--requests-per-minute", "600", "--concurrency", "10", "--input-price", "2",
                          "--output-price", "10")
        self.assertGreater(os.times().elapsed - start, 0.85)  # twelve requests start 0.1 s apart
        self.assertIn(f"cost {2 * N * (100 * 2e-6 + 10 * 10e-6):.4f}", done.stdout)  # tokens of completion()
        self.assertIn("cost", done.stderr)

    def test_custom_parameters_and_prompts_are_sent(self):
        prompts = os.path.join(self.folder, "prompts")
        os.mkdir(prompts)
        for topic in TOPICS:
            with open(os.path.join(prompts, topic + ".txt"), "w", encoding="utf-8") as file:
                file.write("is verification: my own words")
        server = self.serve(lambda request, number: completion('{"count": 4}'))
        self.judge(server.url, "--prompts", prompts, "--extra", '{"max_tokens": null, "max_completion_tokens": 9}')
        self.assertTrue(all("my own words" in r["messages"][0]["content"] for r in server.requests))
        self.assertTrue(all("max_tokens" not in r and r["max_completion_tokens"] == 9 for r in server.requests))

    def test_without_a_key_no_authorization_is_sent(self):
        server = self.serve(good)
        self.environment = {**self.environment, "LIE_JUDGE_API_KEY": "", "OPENAI_API_KEY": "sk-of-another-service"}
        self.assertEqual(self.judge(server.url).returncode, 0)
        self.assertFalse(any("authorization" in headers for _, headers in server.headers))

    def test_a_redirect_is_not_followed(self):
        other = self.serve(good)
        server = self.serve(lambda request, number: (307, {}, {"Location": other.url + "/chat/completions"}))
        self.assertEqual(self.judge(server.url).returncode, 2)
        self.assertEqual(other.requests, [])
        self.assertGreater(self.report()["answers"]["http_error"], 0)

    def test_bad_arguments_are_refused_before_any_request(self):
        server = self.serve(good)
        for url, options, words in ((server.url, ["--extra", "[1]"], "expected an object"),
                                    (server.url, ["--extra", "{"], "--extra: not valid JSON"),
                                    ("localhost:8000", [], "expected a URL"),
                                    (server.url + "?api-key=1", [], "query is refused"),
                                    (server.url, ["--steps", "7-3"], "expected a range such as"),
                                    (server.url, ["--steps", "9"], "holds no responses of these --steps"),
                                    (server.url, ["--prompts", self.folder], "verification.txt")):
            with self.subTest(words):
                done = self.judge(url, *options)
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(words, done.stderr + done.stdout)
        self.rows = self.write([{"prompt": "a"}])
        self.assertIn("rows.jsonl:1: field response: expected a text", self.judge(server.url).stderr)
        self.assertEqual(server.requests, [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
