"""Runs CTest as one step and reads its JUnit file."""

import dataclasses
import re
import xml.etree.ElementTree as xml

OUTPUT = 60  # lines of a failed test's output that are shown


@dataclasses.dataclass
class Tally:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    failures: list = dataclasses.field(default_factory=list)  # a line each, for the summary

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        self.failures += other.failures

    def fail(self, line):
        self.failed += 1
        self.failures.append(line)
        return self

    def text(self):
        return f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped"


def run(steps, title, build, labels, jobs, regex=None, prefix=(), env=None):
    """Runs the tests with one of `labels`; prints what failed or was skipped, and why."""
    report = build / f"junit-{re.sub(r'[^a-z]+', '-', title)}.xml"
    report.unlink(missing_ok=True)
    command = [*prefix, "ctest", "--test-dir", build, "-L", f"^({'|'.join(labels)})$", "-j", jobs, "--timeout", 300,
               "--output-on-failure", "--output-junit", report, "--no-tests=" + ("ignore" if regex else "error")]
    if regex:
        command += ["-R", regex]
    code, log = steps.run(title, command, quiet=True, env=env)
    tally = read(report)
    if code and not tally.failed:  # CTest itself failed: no tests, a broken test file, a crash
        print(f"    ctest failed ({code}) without naming a test; its output: {log}")
        print("\n".join("    | " + line for line in log.read_text(errors="replace").splitlines()[-15:]))
        tally.fail(f"{title}: CTest ended with {code}")
    print(f"     {tally.text()}", flush=True)
    return tally


def read(report):
    tally = Tally()
    if not report.is_file():
        return tally
    for case in xml.parse(report).getroot().iter("testcase"):
        name, output = case.get("name"), case.findtext("system-out") or ""
        if case.find("failure") is not None or case.get("status") == "fail":
            tally.fail(f"{name} after {float(case.get('time') or 0):.1f} s: {_failure(case, output)}")
            print(f"     FAILED {tally.failures[-1]}")
            print("\n".join("    | " + line for line in output.splitlines()[-OUTPUT:]))
        elif case.find("skipped") is not None or case.get("status") in ("notrun", "disabled"):
            tally.skipped += 1
            print(f"     skipped {name}: {_reason(case, output)}")
        else:
            tally.passed += 1
    return tally


def _failure(case, output):
    """The first thing that the test found wrong."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for number, line in enumerate(lines):
        if line.endswith(": Failure"):
            return " ".join([re.sub(r".*/", "", line.removesuffix(": Failure")), *lines[number + 1:number + 5]])[:200]
        if "FAILED: " in line:
            return line
    node = case.find("failure")
    return (node.get("message") if node is not None else None) or "no message"


def _reason(case, output):
    """What the test said: an e2e test's or GoogleTest's message, or a line with 'skip' in it, or its last line."""
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    for number, line in enumerate(lines):
        if " SKIPPED: " in line:
            return line.split(" SKIPPED: ", 1)[1]
        if line.endswith(": Skipped") and number + 1 < len(lines):
            return lines[number + 1]
    said = [line for line in lines if re.search(r"\bskip", line, re.IGNORECASE) and "[" not in line]
    if said or lines:
        return (said or lines)[-1]
    node = case.find("skipped")
    return (node.get("message") if node is not None else None) or "it gave no reason"
