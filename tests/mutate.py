#!/usr/bin/env python3
"""mutate.py: does a test fail when the opener lacks a check?

Every check in the sources below is taken away, one at a time. A condition that
leads to a refusal does not hold any more, or one part of it does not; one that
leads to acceptance, or is what a function returns as its verdict, always holds,
or one part of it does. Then the tests that damage files run until one fails.
What none of them notices is printed; the last line counts.

    mutate.py SRCDIR BUILDDIR SANITIZED [FIRST LAST]

BUILDDIR is where `make check' has been run, for the objects that do not change
and the command that compiles. What is missed there is tried again in SANITIZED,
a build with AddressSanitizer, which notices a read where nothing is. FIRST and
LAST choose some of the checks, by number.

All checks are compiled once, each so that it can be taken away by its number in
the environment. A part is evaluated nevertheless, for what else it does.
"""
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from math import ceil

# Each with the test that is most likely to fail.
SOURCES = {
    "formats/hpa_read.c": "test_file",
    "formats/hpa_view.c": "test_sections",
    "formats/hpa_check.c": "test_sections",
    "formats/hpa_check_tables.c": "test_tables",
    "formats/hpa_components.c": "test_sections",
    "formats/hpa_links.c": "test_links",
    "formats/hpa_hubs.c": "test_hubs",
    "formats/hpa_unpack.c": "test_pack",
    "formats/hpa_shape.c": "test_pack",
}

# All of them, the slow ones last.
TESTS = [
    "test_links",
    "test_tables",
    "test_sections",
    "test_blocks",
    "test_pack",
    "test_hubs",
    "test_file",
    "test_damage",
]

# Parts that no test can miss, with the reason. One that is missed after all, or
# is not in the source any more, is an error.
FITS = "64 bits hold every size; 32 do not"
SAVES_WORK = "saves work: what is left out would change nothing"
EQUIVALENT = [
    ("formats/hpa_read.c", "section->inflated_size != size", FITS),
    ("formats/hpa_read.c", "section->raw_size != raw_size", FITS),
    (
        "formats/hpa_read.c",
        "inflateReset(stream) != Z_OK",
        "it fails only for a stream that was not begun",
    ),
    ("formats/hpa_components.c", "label != HPA_COMP_NONE", SAVES_WORK),
    (
        "formats/hpa_components.c",
        "is_mixed(label_a) || !labels_agree(label_a, label_b)",
        SAVES_WORK,
    ),
    (
        "formats/hpa_shape.c",
        "!hpa_shape_find_nodes(walk->file, walk->profile, &walk->nodes)",
        "whatever is unpacked then, a file that lacks nodes is refused",
    ),
    (
        "formats/hpa_shape.c",
        "to_y >= shape->height",
        "cells above or below the level are in clusters of no node",
    ),
]

REFUSES = re.compile(
    r"\s*(return (refuse|refuse_section|false|NULL|Z_NULL|0|st|HPA_NONE"
    r"|HPA_CORRUPT|HPA_NO_MEMORY)\b|return;"
    r"|st = refuse|in->failed = true|\*detail = )"
)
ACCEPTS = re.compile(r"\s*return (true|HPA_OK);")
VERDICT = re.compile(r"^(?:static )?bool\n\w+\(.*?^}", re.M | re.S)

# What every source is compiled with: the number of the check that is away.
AWAY = """
#include <stdlib.h>
static unsigned long
away(void)
{
	static unsigned long number;
	static int is_known;
	const char *text;

	if (!is_known) {
		text = getenv("HPA_MUTANT");
		number = text ? strtoul(text, NULL, 10) : 0;
		is_known = 1;
	}
	return number;
}
"""


def closing(text, at):
    """Where the parenthesis that opens at `at` closes."""
    depth = 0
    for i in range(at, len(text)):
        if text[i] in "([{":
            depth += 1
        elif text[i] in ")]}":
            depth -= 1
            if depth == 0:
                return i
    raise ValueError("an open parenthesis")


def trim(text, begin, end):
    while text[begin].isspace():
        begin += 1
    while text[end - 1].isspace():
        end -= 1
    return begin, end


def split(text, begin, end, operator):
    """The operands of an operator at the top of an expression."""
    cuts = [begin]
    i = begin
    while i < end:
        if text[i] in "([{":
            i = closing(text, i)
        elif text.startswith(operator, i):
            cuts += [i, i + len(operator)]
        i += 1
    cuts.append(end)
    return [
        trim(text, cuts[i], cuts[i + 1]) for i in range(0, len(cuts), 2)
    ]


def parts_of(text, begin, end, holds):
    """Parts that can be made to hold, or not to hold, each of which makes the
    whole hold more, or less, often."""
    is_not = text[begin] == "!"
    inside = begin + is_not
    if text[inside] == "(" and closing(text, inside) == end - 1:
        yield from parts_of(
            text, *trim(text, inside + 1, end - 1), holds != is_not
        )
        return
    if len(split(text, begin, end, "?")) > 1:
        return
    for operator in "||", "&&":
        operands = split(text, begin, end, operator)
        if len(operands) > 1:
            for operand in operands:
                if holds == (operator == "&&"):
                    yield (*operand, holds)
                yield from parts_of(text, *operand, holds)
            return


def checks_in(text):
    """Stretches of conditions, and whether to make them hold or not."""
    found = []
    for match in re.finditer(r"\bif \(", text):
        end = closing(text, match.end() - 1)
        body = text[end + 1 :]
        body = body[2:] if body.startswith(" {") else body
        if REFUSES.match(body):
            found.append((match.end(), end, False))
        elif ACCEPTS.match(body):
            found.append((match.end(), end, True))
    for function in VERDICT.finditer(text):
        body = re.compile(r"\breturn ([^;]+);")
        for match in body.finditer(text, function.start(), function.end()):
            if match.group(1) not in ("true", "false"):
                found.append((match.start(1), match.end(1), True))
    checks = set()
    for begin, end, holds in found:
        begin, end = trim(text, begin, end)
        parts = list(parts_of(text, begin, end, holds))
        if not any(part[2] == holds for part in parts):
            parts.append((begin, end, holds))
        checks.update(parts)
    return sorted(checks)


def with_switches(text, checks, first_number):
    """The source, in which a check can be taken away by its number."""
    inserted = []
    for number, (begin, end, holds) in enumerate(checks, first_number):
        switch = "|| away() ==" if holds else "&& away() !="
        inserted.append((begin, 1, -end, "(("))
        inserted.append((end, 0, -begin, ") %s %d)" % (switch, number)))
    pieces = [AWAY, "#line 1\n"]
    last = 0
    for at, _, _, piece in sorted(inserted):
        pieces += [text[last:at], piece]
        last = at
    return "".join(pieces) + text[last:]


def cpu_seconds():
    """What the programs that ended have taken."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Check:
    def __init__(self, source, text, begin, end):
        self.source = source
        self.line = text.count("\n", 0, begin) + 1
        self.text = " ".join(text[begin:end].split())


class Bench:
    """The tests, linked with sources whose checks can be taken away."""

    def __init__(self, srcdir, builddir, sources):
        self.srcdir, self.builddir = srcdir, builddir
        self.place = tempfile.mkdtemp(prefix="mutate")
        self.limits = dict.fromkeys(TESTS, 3600)
        self.compiler = self.variable("CC") + self.variable("SANITIZER_FLAGS")
        self.libraries = []
        for name in (
            "OPENMP_CFLAGS CMOCKA_LIBS JANSSON_LIBS EXPAT_LIBS PNG_LIBS"
            " YAML_LIBS ZSTD_LIBS ZLIB_LIBS"
        ).split():
            self.libraries += self.variable(name)
        for source, text in sources:
            self.compile(source, text)
        for test in TESTS:
            self.link(test)

    def variable(self, name):
        with open(os.path.join(self.builddir, "Makefile")) as file:
            found = re.search(r"^%s = (.*)$" % name, file.read(), re.M)
        return found.group(1).split() if found else []

    def path(self, *names):
        return os.path.join(self.place, *names)

    def built(self, *names):
        return os.path.join(self.builddir, *names)

    def compile(self, source, text):
        """Put the object in place of the real one."""
        name = os.path.basename(source)
        with open(self.path(name), "w") as file:
            file.write(text)
        command = self.compiler + ["-O1", "-w", "-I", self.srcdir, "-I"]
        command += [os.path.join(self.srcdir, "include"), "-c"]
        object_name = name.replace(".c", ".o")
        command += [self.path(name), "-o", self.path(object_name)]
        subprocess.run(command, check=True)
        if not os.path.exists(self.path("libruntime.a")):
            shutil.copy(self.built(".libs", "libruntime.a"), self.place)
        subprocess.run(
            ["ar", "r", "libruntime.a", object_name],
            cwd=self.place,
            check=True,
        )

    def link(self, test):
        command = self.compiler + ["-o", self.path(test)]
        command += [self.built("tests", test + ".o")]
        command += [self.built("tests", "libsupport.a")]
        command += [self.built(".libs", "libbaker.a")]
        command += [self.path("libruntime.a")] + self.libraries
        command += [
            flag
            for flag in self.variable("tests_%s_LDFLAGS" % test)
            if flag.startswith("-Wl,")
        ]
        subprocess.run(command, check=True)

    def fails(self, test, number):
        """Does the test fail without the check? It need not go on when the
        first of its parts has."""
        limit = self.limits[test]
        process = subprocess.Popen(
            [self.path(test)],
            preexec_fn=lambda: resource.setrlimit(
                resource.RLIMIT_CPU, (limit, limit)
            ),
            env=dict(
                os.environ, HPA_MUTANT=str(number), CMOCKA_MESSAGE_OUTPUT="TAP"
            ),
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        for line in process.stdout:
            if line.startswith(b"not ok"):
                process.kill()
        return process.wait() != 0

    def passes_all(self):
        """Do the tests pass with all checks in place? From now on they may
        take ten times as long, by the processor's time: whatever else runs on
        the machine must not make them fail."""
        for test in TESTS:
            begin = cpu_seconds()
            if self.fails(test, 0):
                return False
            self.limits[test] = 2 + 10 * ceil(cpu_seconds() - begin)
        return True

    def close(self):
        shutil.rmtree(self.place)


def is_noticed(benches, source, number):
    """Does a test in one of the builds fail without the check?"""
    first = SOURCES[source]
    return any(
        bench.fails(test, number)
        for bench in benches
        for test in sorted(TESTS, key=lambda test: test != first)
    )


def read_checks(srcdir):
    """All checks, in the order of their numbers from 1 on, and the sources with
    their switches."""
    checks, sources = [], []
    for source in SOURCES:
        with open(os.path.join(srcdir, source)) as file:
            text = file.read()
        found = checks_in(text)
        sources.append((source, with_switches(text, found, len(checks) + 1)))
        checks += [Check(source, text, b, e) for b, e, _ in found]
    return checks, sources


def try_all(benches, checks, numbers):
    """How many were taken away, and how many of these make no difference but
    should, or make one but should not."""
    n_tried = n_wrong = 0
    for number in numbers:
        check = checks[number - 1]
        expected = (check.source, check.text) not in [
            entry[:2] for entry in EQUIVALENT
        ]
        n_tried += expected
        if is_noticed(benches, check.source, number) == expected:
            continue
        n_wrong += 1
        print(
            "%d: %s:%d: %s: %s"
            % (
                number,
                check.source,
                check.line,
                "no test misses" if expected else "a test misses after all",
                check.text,
            ),
            flush=True,
        )
    return n_tried, n_wrong


def main():
    srcdir, builds = sys.argv[1], sys.argv[2:4]
    checks, sources = read_checks(srcdir)
    numbers = range(1, len(checks) + 1)
    if len(sys.argv) > 5:
        numbers = range(int(sys.argv[4]), int(sys.argv[5]) + 1)
    known = [(check.source, check.text) for check in checks]
    for source, text, _ in EQUIVALENT:
        if (source, text) not in known:
            sys.exit("mutate.py: %s has no such check: %s" % (source, text))
    benches = [Bench(srcdir, build, sources) for build in builds]
    if not all([bench.passes_all() for bench in benches]):
        sys.exit("mutate.py: a test fails with all checks in place")
    n_tried, n_wrong = try_all(benches, checks, numbers)
    for bench in benches:
        bench.close()
    print("%d checks taken away, %d missed by no test" % (n_tried, n_wrong))
    sys.exit(n_wrong != 0)


if __name__ == "__main__":
    main()
