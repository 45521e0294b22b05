#!/usr/bin/env python3
"""Plants a violation in a copy of the tree and expects scripts/check to find that one, where it is.

`gates_test.py TestCase.test_name` runs one; CMakeLists.txt registers each with CTest.
"""

import json
import os
import pathlib
import shutil
import stat
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[3]
COPIED = ["CMakeLists.txt", "CMakePresets.json", ".clang-format", ".clang-tidy", "cmake", "pilot", "adaptors",
          "miniapps", "scripts", "tests"]
NOT_COPIED = shutil.ignore_patterns("__pycache__", "fixtures", "build")


class GateCase(unittest.TestCase):
    def setUp(self):
        self.tree = pathlib.Path(tempfile.mkdtemp(prefix="gates-"))
        self.addCleanup(shutil.rmtree, self.tree)
        for name in COPIED:
            source = ROOT / name
            if source.is_dir():
                shutil.copytree(source, self.tree / name, ignore=NOT_COPIED)
            else:
                shutil.copy2(source, self.tree / name)

    def check(self, gate, *options):
        """Exit code and the findings of one gate in the copy."""
        done = subprocess.run([sys.executable, self.tree / "scripts/check", "--json", gate, *options],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                              env={**os.environ, "XDG_CACHE_HOME": str(self.tree / "cache")})
        self.assertIn(done.returncode, (0, 1), done.stderr)
        result = json.loads(done.stdout)["gates"][0]
        if result["status"] == "skipped":
            self.skipTest(result["skipped_because"])
        return done.returncode, {f"{f['path']}:{f['line']}: {f['message']}" for f in result["findings"]
                                 if f["severity"] == "error"}

    def plant(self, path, text, at_end=True):
        """Adds text to a file (or makes it); returns the line on which the text begins."""
        file = self.tree / path
        old = file.read_text() if file.exists() else ""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(old + text if at_end else text + old)
        return old.count("\n") + 1 if at_end else 1

    def expect_new(self, gate, place, words, plant, *options):
        """`plant()` leads to exactly one more finding, at `place`, with `words` in it, and to exit code 1."""
        before = self.check(gate, *options)[1]
        line = plant()
        code, after = self.check(gate, *options)
        new = after - before
        self.assertEqual(1, len(new), new)
        found = new.pop()
        self.assertTrue(found.startswith(f"{place}:{line}: "), found)
        self.assertIn(words, found)
        self.assertEqual(1, code)


class Layers(GateCase):
    def include(self, path, header, words):
        self.expect_new("layers", path, words, lambda: self.plant(path, f"#include {header}\n"))

    def test_a_lower_layer_includes_a_higher_one(self):
        self.plant("pilot/agent/planted.hpp", "#pragma once\n")
        self.include("pilot/base/clock.cpp", '"pilot/agent/planted.hpp"', "pilot/agent (layer 3) lies above pilot/base")

    def test_neighbours_include_each_other(self):
        self.plant("pilot/codec/planted.hpp", "#pragma once\n")
        self.include("pilot/proc/planted.cpp", '"pilot/codec/planted.hpp"', "neighbours in layer 2")

    def test_the_agent_includes_an_adaptor(self):
        self.plant("adaptors/framework/kafka/planted.hpp", "#pragma once\n")
        self.include("pilot/agent/planted.cpp", '"adaptors/framework/kafka/planted.hpp"', "neighbours")

    def test_an_adaptor_includes_another(self):
        self.plant("adaptors/framework/dask/planted.hpp", "#pragma once\n")
        self.include("adaptors/framework/kafka/planted.cpp", '"adaptors/framework/dask/planted.hpp"', "confined")

    def test_a_kernel_includes_the_pilot(self):
        self.include("miniapps/kernels/planted.cpp", '"pilot/base/result.hpp"', "miniapps/kernels is confined to itself")

    def test_the_core_names_a_framework(self):
        self.expect_new("layers", "pilot/core/planted.cpp", "may not name 'kafka'", lambda: self.plant(
            "pilot/core/planted.cpp", '// kafka in a comment is fine\nauto name = "kafka";\n') + 1)

    def test_a_third_party_header_outside_its_owner(self):
        self.include("pilot/agent/planted.cpp", "<boost/process.hpp>", "belongs to pilot/proc")

    def test_json_in_a_header_of_an_owner_of_sources_only(self):
        self.include("pilot/net/planted.hpp", "<nlohmann/json.hpp>", "belongs to pilot/codec")

    def test_product_code_includes_what_is_for_tests(self):
        self.plant("pilot/base/testing.hpp", "#pragma once\n")
        self.include("pilot/base/clock.cpp", '"pilot/base/testing.hpp"', "is for tests only")

    def test_an_include_that_is_not_from_the_root(self):
        self.include("pilot/base/clock.cpp", '"clock.hpp"', "full paths")

    def test_a_commented_include_is_none(self):
        before = self.check("layers")[1]
        self.plant("pilot/base/clock.cpp", '/*\n#include "pilot/cli/x.hpp"\n*/\n// #include <boost/process.hpp>\n')
        self.assertEqual(before, self.check("layers")[1])

    def test_a_folder_without_a_layer(self):
        self.expect_new("layers", "pilot/surprise/planted.cpp", "no layer",
                        lambda: self.plant("pilot/surprise/planted.cpp", "int x;\n") - 1)

    def link(self, path, text, words, line_in_text):
        self.expect_new("layers", path, words, lambda: self.plant(path, text) + line_in_text)

    def test_a_target_links_a_higher_one(self):
        self.plant("pilot/agent/CMakeLists.txt", "\npilot_library(pilot_planted SOURCES a.cpp)\n")
        self.link("pilot/base/CMakeLists.txt", "\npilot_library(pilot_low\n  SOURCES b.cpp\n  DEPS pilot::planted)\n",
                  "may not link pilot::planted: pilot/agent (layer 3)", 3)

    def test_a_target_links_by_the_plain_command_and_a_variable(self):
        self.plant("pilot/cli/CMakeLists.txt", "\nadd_library(pilot_planted a.cpp)\n")
        self.link("pilot/model/CMakeLists.txt",
                  "\nset(MORE pilot_planted)\nadd_library(low b.cpp)\ntarget_link_libraries(low PRIVATE ${MORE})\n",
                  "pilot/cli (layer 5)", 3)

    def test_a_target_links_a_library_that_another_folder_owns(self):
        self.link("pilot/agent/CMakeLists.txt", "\npilot_library(pilot_x SOURCES a.cpp PRIVATE_DEPS yaml-cpp)\n",
                  "belongs to pilot/codec pilot/config", 1)

    def test_a_rule_that_cannot_be_read(self):
        line = self.plant("scripts/layers.rules", "layre 2 pilot/base\n")
        self.assertIn(f"scripts/layers.rules:0: layers.rules:{line}: cannot read the rule 'layre 2 pilot/base'",
                      self.check("layers")[1])


class Others(GateCase):
    def test_a_source_beyond_the_limit(self):
        self.expect_new("sizes", "pilot/base/planted.cpp", "601 lines; a source has at most 600",
                        lambda: self.plant("pilot/base/planted.cpp", "// x\n" * 601) - 1)

    def test_a_header_beyond_the_limit(self):
        self.expect_new("sizes", "pilot/base/planted.hpp", "301 lines; a header has at most 300",
                        lambda: self.plant("pilot/base/planted.hpp", "// x\n" * 301) - 1)

    def test_a_folder_without_a_readme(self):
        self.expect_new("readmes", "pilot/bare/", "no README.md",
                        lambda: self.plant("pilot/bare/planted.cpp", "int x;\n") - 1)

    def test_a_file_that_is_not_formatted(self):
        self.expect_new("format", "pilot/base/planted.cpp", "clang-format-14 -i pilot/base/planted.cpp",
                        lambda: self.plant("pilot/base/planted.cpp", "int   x ;\n"))

    def plant_script(self, text):
        line = self.plant("scripts/planted.sh", text)
        os.chmod(self.tree / "scripts/planted.sh", stat.S_IRWXU)
        return line

    def test_a_shell_script_with_a_mistake(self):
        self.expect_new("shell", "scripts/planted.sh", "SC2086",
                        lambda: self.plant_script("#!/bin/bash\ncd $1 || exit\n") + 1)

    def test_a_hit_that_may_be_told_as_a_miss(self):
        self.expect_new("shell", "scripts/planted.sh", "a pipe ends in grep -q",
                        lambda: self.plant_script("#!/bin/bash\nset -o pipefail\nseq 100000 | grep -qF 1\n") + 2)

    def only(self, path, text):
        """Reduces the copy to one source that a compile database names; returns the options for it."""
        for folder in ("pilot", "adaptors", "miniapps", "tests"):
            shutil.rmtree(self.tree / folder)
        self.plant(path, text)
        build = self.tree / "build/planted"
        build.mkdir(parents=True)
        (build / "compile_commands.json").write_text(json.dumps([{
            "directory": str(build), "file": str(self.tree / path),
            "command": f"g++ -std=c++20 -I{self.tree} -c {self.tree / path}"}]))
        return "--build-dir", str(build)

    def test_a_header_that_does_not_stand_alone(self):
        options = self.only("pilot/base/main.cpp", "int main() {}\n")
        self.assertEqual((0, set()), self.check("headers", *options))
        self.plant("pilot/base/needy.hpp", "#pragma once\nstd::string name();\n")
        for run in ("fresh", "remembered"):
            with self.subTest(run):
                code, found = self.check("headers", *options)
                self.assertEqual(1, code)
                self.assertEqual(1, len(found), found)
                self.assertIn("pilot/base/needy.hpp:2: does not compile alone as c++", found.pop())

    def test_a_use_after_move(self):
        options = self.only("pilot/base/main.cpp", (
            "#include <string>\n#include <utility>\nstd::string f(std::string a) {\n"
            "  std::string b = std::move(a);\n  return a + b;\n}\n"))
        code, found = self.check("tidy", *options)
        self.assertEqual(1, code)
        self.assertEqual(1, len(found), found)
        self.assertRegex(found.pop(), r"^pilot/base/main.cpp:5: 'a' used after it was moved \[bugprone-use-after-move")

    def test_all_gates_report_in_one_run(self):
        self.plant("pilot/base/planted.cpp", '#include "pilot/cli/none.hpp"\nint   x ;\n' + "// x\n" * 601)
        done = subprocess.run([self.tree / "scripts/check", "layers", "sizes", "format"], stderr=subprocess.PIPE,
                              text=True, check=False)
        self.assertEqual(1, done.returncode)
        for words in ("full paths", "603 lines", "not formatted"):
            self.assertIn(words, done.stderr)

    def test_an_unknown_gate(self):
        done = subprocess.run([self.tree / "scripts/check", "layer"], stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(2, done.returncode)
        self.assertIn("there is no gate 'layer'; one of: layers", done.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
