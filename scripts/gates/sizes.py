"""No file and no function grows beyond what a reader takes in."""

import re

from .tree import HEADERS, Finding, without_comments_and_strings

NAME = "sizes"
PURPOSE = "sources <= 600 lines (aim: 400), headers <= 300 (aim: 200), functions aim at 40"

LIMITS = {"source": (400, 600), "header": (200, 300)}  # lines: wished, refused
FUNCTION = 40
NO_FUNCTION = re.compile(r"^\s*(?:template\s*<.*?>\s*)?(?:typedef\s+)?(?:inline\s+)?"
                         r"(namespace|class|struct|union|enum|extern)\b", re.DOTALL)


def run(tree):
    findings = []
    scripts = [f for f in tree.files if f.endswith((".py", ".sh")) or tree.text(f)[:2] == "#!"]
    for path in tree.code() + [s for s in scripts if not s.endswith((".cpp", ".hpp"))]:
        text = tree.text(path)
        lines = text.count("\n")
        kind = "header" if path.endswith(HEADERS) and not path.endswith("-inl.h") else "source"
        wished, refused = LIMITS[kind]
        if lines > refused:
            findings.append(Finding(path, 0, f"{lines} lines; a {kind} has at most {refused}"))
        elif lines > wished:
            findings.append(Finding(path, 0, f"{lines} lines; aim at {wished} for a {kind}", "warning"))
        if path in tree.code() and not path.endswith("_test.cpp"):
            findings += [Finding(path, line, f"function of {length} lines; aim at {FUNCTION}", "warning")
                         for line, length in functions(text) if length > FUNCTION]
    return findings


def functions(text):
    """(first line, lines) of each function body outside other functions, found by its braces."""
    code = without_comments_and_strings(text)
    code = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", lambda m: re.sub(r"[^\n]", " ", m[0]), code, flags=re.MULTILINE)
    stack, head_start, result = [], 0, []
    for at, char in enumerate(code):
        if char == "{":
            head = code[head_start:at]
            inside = any(kind == "function" for kind, _ in stack)
            transparent = NO_FUNCTION.match(head) or not head.strip()
            kind = "scope" if transparent or inside or "(" not in head else "function"
            begin = head_start + len(head) - len(head.lstrip())
            stack.append((kind, begin))
            if kind == "scope":
                head_start = at + 1
        elif char == "}" and stack:
            kind, begin = stack.pop()
            if kind == "function":
                tail = code[at + 1:at + 40].lstrip()
                if tail[:1] in (",", "{"):  # a braced member initialiser, the body is still to come
                    continue
                first = code.count("\n", 0, begin) + 1
                result.append((first, code.count("\n", 0, at) + 1 - first + 1))
            head_start = at + 1
        elif char == ";" and not any(kind == "function" for kind, _ in stack):
            head_start = at + 1
    return result
