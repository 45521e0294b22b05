#!/usr/bin/env python3
"""The parts of scripts/test and scripts/setup that say what went wrong: leftovers, results, packages, steps."""

import contextlib
import io
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "scripts"))
from lib import ctest, debian, leftovers, steps  # noqa: E402

JUNIT = """<testsuite><testcase name="good" status="run"/>
<testcase name="bad" status="fail" time="1.5"><failure message="Timeout"/><system-out>expected 1, got 2</system-out></testcase>
<testcase name="shy" status="notrun"><skipped/><system-out>[ RUN ] x
/a/b_test.cpp:12: Skipped
needs a second user
[  SKIPPED ] x</system-out></testcase>
<testcase name="bare" status="notrun"><skipped/><system-out>[44-bare 12:00:00] SKIPPED: slurmdbd is not installed
vcluster: nothing is up</system-out></testcase></testsuite>"""


class Suite(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="suite-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def test_a_detached_process_is_found_and_ended(self):
        leftovers.become_subreaper()
        self.assertEqual([], leftovers.processes())
        # two generations that leave their parent and its session, as an agent does
        subprocess.run(["setsid", "--fork", "sh", "-c", "sleep 300 & exec sleep 301"], check=True)
        leftovers.GRACE = 0.2
        found = leftovers.processes()
        self.assertEqual(1, len(found), found)
        self.assertIn("sleep 301", leftovers.describe(found[0]))
        leftovers.end(found)
        self.assertEqual([], leftovers.processes(), "the second generation lives on")

    def test_a_detached_process_that_ends_is_gone_while_a_step_runs(self):
        leftovers.become_subreaper()
        with contextlib.redirect_stdout(io.StringIO()):
            code, _ = steps.Steps(self.folder, leftovers.bury).run("orphan", ["bash", "-c", (
                "pid=$(setsid --fork sh -c 'echo $$; exec sleep 0.1 >&-'); "
                "for i in $(seq 100); do kill -0 $pid 2>&- || exit 0; read -t 0.1 <> <(:); done; exit 1")])
        self.assertEqual(0, code)

    def test_a_process_of_a_killed_run_is_found_by_its_mark(self):
        mark = str(self.folder)
        process = subprocess.Popen(["sleep", "300"], env={**os.environ, leftovers.MARK: mark})
        try:
            self.assertEqual([process.pid], leftovers.of_earlier_run(mark))
        finally:
            process.kill()
            process.wait()
        self.assertEqual([], leftovers.of_earlier_run(mark))

    def test_a_listening_port_is_named(self):
        import socket
        with socket.create_server(("127.0.0.1", 0)) as server:
            self.assertIn(f"listens on 127.0.0.1:{server.getsockname()[1]}", leftovers.describe(os.getpid()))

    def test_results_are_counted_and_reasons_shown(self):
        report, shown = self.folder / "junit.xml", io.StringIO()
        report.write_text(JUNIT)
        with contextlib.redirect_stdout(shown):
            tally = ctest.read(report)
        self.assertEqual("1 passed, 1 failed, 2 skipped", tally.text())
        self.assertIn("FAILED bad after 1.5 s: Timeout\n    | expected 1, got 2", shown.getvalue())
        self.assertIn("skipped shy: needs a second user", shown.getvalue())
        self.assertIn("skipped bare: slurmdbd is not installed", shown.getvalue())

    def test_a_failed_step_shows_the_end_of_its_output_and_its_log(self):
        shown = io.StringIO()
        with contextlib.redirect_stdout(shown):
            code, log = steps.Steps(self.folder).run("Break it (now)", ["sh", "-c", "seq 100; exit 7"])
        self.assertEqual((7, self.folder / "break-it-now.log"), (code, log))
        for words in ("FAIL", "    | 100", "exit code 7", str(log)):
            self.assertIn(words, shown.getvalue())
        self.assertNotIn("    | 60\n", shown.getvalue())

    def test_packages_are_listed_once_and_known_to_dpkg(self):
        wanted = debian.wanted({"runtime", "build", "check"})
        self.assertEqual(len(wanted), len(set(wanted)))
        self.assertIn("librdkafka-dev", wanted)
        missing = debian.missing(["dpkg", "a-package-that-is-not-there"])
        if missing is None:
            self.skipTest("no dpkg on this machine")
        self.assertEqual(["a-package-that-is-not-there"], missing)


if __name__ == "__main__":
    unittest.main(verbosity=2)
