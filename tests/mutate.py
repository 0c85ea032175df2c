#!/usr/bin/env python3
"""mutate.py: does a test fail when the opener lacks a check?

Every check in the sources below is taken away, one at a time: a condition that
leads to a refusal becomes false, or one part of it does. Each time the tests
that damage files are compiled anew and run until one fails. A check that no
test misses is printed; the last line counts.

    mutate.py SRCDIR BUILDDIR SANITIZED [FIRST LAST]

BUILDDIR is where `make check' has been run, for the objects that do not change
and the command that compiles. What is missed there is tried again in SANITIZED,
a build with AddressSanitizer, which notices a read where nothing is. It takes a
minute for ten checks or more. FIRST and LAST choose some of them, by number.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

SOURCES = [
    "formats/hpa_read.c",
    "formats/hpa_view.c",
    "formats/hpa_unpack.c",
    "formats/hpa_shape.c",
]
TESTS = ["test_file", "test_damage", "test_pack"]
TIMEOUT_S = 120

# What refuses: a condition in front of one of these is a check.
REFUSALS = re.compile(
    r"\s*(return (refuse|refuse_section|false|NULL|HPA_CORRUPT|HPA_NO_MEMORY)"
    r"|st = refuse|in->failed = true|\*detail = )"
)


def closing(text, at):
    """Where the parenthesis that opens at `at` closes."""
    depth = 0
    for i in range(at, len(text)):
        if text[i] == "(":
            depth += 1
        elif text[i] == ")":
            depth -= 1
            if depth == 0:
                return i
    raise ValueError("an open parenthesis")


def parts_of(text, begin, end):
    """The operands of || at the top of a condition."""
    cuts = [begin]
    depth = 0
    for i in range(begin, end):
        if text[i] in "([{":
            depth += 1
        elif text[i] in ")]}":
            depth -= 1
        elif depth == 0 and text[i : i + 2] == "||":
            cuts += [i, i + 2]
    cuts.append(end)
    return [(cuts[i], cuts[i + 1]) for i in range(0, len(cuts), 2)]


def checks_in(text):
    """Stretches of conditions that refuse when they hold."""
    for match in re.finditer(r"\bif \(", text):
        begin = match.end()
        end = closing(text, begin - 1)
        body = text[end + 1 :]
        body = body[2:] if body.startswith(" {") else body
        if REFUSALS.match(body):
            yield from parts_of(text, begin, end)


def line_of(text, at):
    return text.count("\n", 0, at) + 1


def words(text):
    return " ".join(text.split())


class Bench:
    """A copy of the tree in which one file is mutated."""

    def __init__(self, srcdir, builddir):
        self.srcdir, self.builddir = srcdir, builddir
        self.place = tempfile.mkdtemp(prefix="mutate")
        self.compiler = self.makefile_variable("CC").split()
        self.compiler += self.makefile_variable("SANITIZER_FLAGS").split()
        self.libraries = " ".join(
            self.makefile_variable(name)
            for name in (
                "OPENMP_CFLAGS CMOCKA_LIBS JANSSON_LIBS EXPAT_LIBS PNG_LIBS"
                " YAML_LIBS ZSTD_LIBS ZLIB_LIBS"
            ).split()
        ).split()
        self.tests = [
            test
            for test in TESTS
            if os.path.exists(os.path.join(srcdir, "tests", test + ".c"))
        ]

    def makefile_variable(self, name):
        with open(os.path.join(self.builddir, "Makefile")) as file:
            found = re.search(r"^%s = (.*)$" % name, file.read(), re.M)
        return found.group(1) if found else ""

    def path(self, name):
        return os.path.join(self.place, name)

    def compile(self, source, text):
        """Put the mutated object in place of the real one; False if it does
        not compile."""
        name = os.path.basename(source)
        with open(self.path(name), "w") as file:
            file.write(text)
        command = self.compiler + ["-O0", "-w", "-I", self.srcdir, "-I"]
        command += [os.path.join(self.srcdir, "include"), "-c"]
        object_name = name.replace(".c", ".o")
        command += [self.path(name), "-o", self.path(object_name)]
        if subprocess.run(command, stderr=subprocess.DEVNULL).returncode != 0:
            return False
        shutil.copy(
            os.path.join(self.builddir, ".libs", "libruntime.a"), self.place
        )
        subprocess.run(
            ["ar", "r", "libruntime.a", object_name],
            cwd=self.place,
            check=True,
            stderr=subprocess.DEVNULL,
        )
        return True

    def link(self, test):
        command = self.compiler + ["-o", self.path(test)]
        command += [os.path.join(self.builddir, "tests", test + ".o")]
        command += [os.path.join(self.builddir, "tests", "libsupport.a")]
        command += [os.path.join(self.builddir, ".libs", "libbaker.a")]
        command += [self.path("libruntime.a")] + self.libraries
        subprocess.run(command, check=True)

    def fails(self):
        """Does one of the tests fail?"""
        for test in self.tests:
            self.link(test)
            try:
                done = subprocess.run(
                    [self.path(test)],
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    timeout=TIMEOUT_S,
                )
            except subprocess.TimeoutExpired:
                return True
            if done.returncode != 0:
                return True
        return False

    def close(self):
        shutil.rmtree(self.place)


def is_missed(benches, source, mutant):
    """Do all tests of all builds pass? None: it can't be compiled."""
    for bench in benches:
        if not bench.compile(source, mutant):
            return None
        if bench.fails():
            return False
    return True


def mutants(srcdir):
    for source in SOURCES:
        with open(os.path.join(srcdir, source)) as file:
            text = file.read()
        for begin, end in checks_in(text):
            yield source, text, begin, end


def main():
    srcdir, builds = sys.argv[1], sys.argv[2:4]
    every = list(mutants(srcdir))
    first, last = 1, len(every)
    if len(sys.argv) > 5:
        first, last = int(sys.argv[4]), int(sys.argv[5])
    benches = [Bench(srcdir, build) for build in builds]
    n_missed = n_tried = 0
    for number, (source, text, begin, end) in enumerate(every, 1):
        if not first <= number <= last:
            continue
        place = "%d: %s:%d" % (number, source, line_of(text, begin))
        mutant = text[:begin] + "0 && (" + text[begin:end] + ")" + text[end:]
        missed = is_missed(benches, source, mutant)
        if missed is None:
            print(place + ": does not compile", flush=True)
            continue
        n_tried += 1
        if missed:
            n_missed += 1
            print(
                "%s: no test misses: %s" % (place, words(text[begin:end])),
                flush=True,
            )
    for bench in benches:
        bench.close()
    print("%d checks taken away, %d missed by no test" % (n_tried, n_missed))


if __name__ == "__main__":
    main()
