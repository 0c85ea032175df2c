# test_symbols.sh: the walls of the tree, as the linker and the includes see
# them.
#
# libhpa shows exactly the functions that hpa.h declares, needs libc and zlib
# only, never prints, exits or aborts, knows no OpenMP and has no writable
# global data, which is what lets any number of threads share it. Inside the
# tree, includes point one way: cli to bake to formats, run to the readers of
# formats.
#
# Each check is first tried on a library that breaks every rule: one that can't
# find anything would pass for ever. Names come from nm and readelf, which are
# there wherever gcc or clang can link.
. "$srcdir/tests/tap.sh"

LC_ALL=C
export LC_ALL
shared=$top_builddir/.libs/libhpa.so
static=$top_builddir/.libs/libhpa.a

# What a compiler adds of its own is not for us to judge.
case "$SANITIZER_FLAGS $CFLAGS" in
*-fsanitize* | *--coverage* | *-fprofile* | *-pg*) instrumented=yes ;;
*) instrumented=no ;;
esac

# What a library has. Each prints names, sorted.

# The functions that a header declares with HPA_API: without comments and
# directives, a statement per line, the name before the first parenthesis.
declared() {
	sed 's/^#.*//' "$1" | tr '\n\t' '  ' |
		awk '{
			while ((from = index($0, "/*")) > 0) {
				rest = substr($0, from + 2)
				$0 = substr($0, 1, from - 1) " " \
					substr(rest, index(rest, "*/") + 2)
			}
			gsub(/;/, "\n")
			print
		}' | sed -n '/HPA_API/{s/(.*//;s/.*[ *]//;p;}' | sort -u
}

# Some linkers show where the parts of a library begin and end.
exported() {
	nm -D --defined-only "$1" | awk '{ print $NF }' | sed 's/@.*//' |
		grep -v -x -E '_init|_fini|_edata|_end|__bss_start' | sort -u
}

# Global symbols of an archive that are not hidden.
visible() {
	readelf -s -W "$1" | awk '$5 == "GLOBAL" && $6 == "DEFAULT" &&
		$7 != "UND" { print $8 }' | sort -u
}

imported() {
	nm -u "$1" | sed -n 's/^ *[Uw] //p' | sed 's/@.*//' | sort -u
}

needed() {
	readelf -d -W "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\].*/\1/p' | sort -u
}

# Variables that can be written to. Tables of pointers are in .data.rel.ro, for
# the loader to write and nobody else.
writable() {
	nm -f sysv "$1" | tr -d ' ' |
		awk -F'|' '$NF ~ /^(\.[stl]?(data|bss)|\*COM\*)/ &&
			$NF !~ /^\.data\.rel\.ro/ { print $1 }' | sort -u
}

# Of a file of imported names: stdio, with its checked and its wide forms.
stdio_of() {
	grep -x -E '(__)?v?[fsd]?n?w?(printf|scanf)(_chk)?' "$1"
	grep -x -E 'f?put(s|c|char)|perror|std(in|out|err)|_IO_.*' "$1"
	grep -x -E 'f(open|close|read|write|flush|gets|getc|seek|tell)' "$1"
}

ending_of() {
	grep -x -E '_?_?(exit|Exit|quick_exit|abort|assert.*|raise|kill|longjmp)' \
		"$1"
}

openmp_of() {
	grep -E '^(GOMP_|omp_|__kmpc_)' "$1"
}

# Of a file of imported names: those that hpa.h does not promise. Names that end
# in _chk and 64 are other forms of the same, what begins with __ and is no
# function of libc is the compiler's; parts of an archive import from each other.
unpromised_of() {
	own "$static" >"$tmp/own"
	grep -v -x -F -f "$tmp/own" "$1" |
		grep -v -x -E '(__)?(mem(cpy|move|set|cmp|chr)|str(cmp|len))(_chk)?' |
		grep -v -x -E '(open|f?stat|mmap)(64)?|munmap|close|(__)?read(_chk)?' |
		grep -v -x -E '__open(64)?_2|__f?xstat(64)?|__errno_location' |
		grep -v -x -E 'malloc|free|inflate(Init_|Reset|End)?|crc32_z' |
		grep -v -x -E '__(stack_chk|tls_get|cpu_|cxa_finalize|gmon).*' |
		grep -v -x -E '_ITM_.*|_GLOBAL_OFFSET_TABLE_'
}

# What the parts of an archive have for each other.
own() {
	nm --defined-only "$1" | awk 'NF == 3 { print $3 }' | sort -u
}

# The checks, on a library that fails them all

make_bad_library() {
	cat >"$tmp/bad.c" <<'END'
#include <stdio.h>
#include <stdlib.h>

int counter, started = 1;
static int calls;
static _Thread_local int own;
static const char *const words[] = {"not", "writable"};
int omp_get_max_threads(void);
__attribute__((visibility("hidden"))) int hidden(void);

int
hidden(void)
{
	return 1;
}

const char *
bad_word(int i)
{
	if (i > 9)
		abort();
	if (i > 8)
		exit(1);
	own += omp_get_max_threads() + hidden();
	printf("%d %d %d\n", ++calls, own, counter += started);
	return words[i & 1];
}
END
	$CC -fPIC -c "$tmp/bad.c" -o "$tmp/bad.o" &&
		$CC -shared "$tmp/bad.o" -Wl,--no-as-needed -lm -o "$tmp/bad.so"
}

cat >"$tmp/bad.h" <<'END'
/* HPA_API int in_a_comment(void); */
#define HPA_API
HPA_API const char *first(int (*call)(void *user));
HPA_API HPA_MUST_USE int
second(void); /* several; HPA_API lines (of comment),
               * HPA_API int more(void); */
int third(void);
HPA_API void fourth(const char *a,
                    int b);
END

finds() {
	is "it finds $1" "$(printf '%s' "$2" | xargs)" "$3"
}

test_checks() {
	finds "what a header declares" "$(declared "$tmp/bad.h")" \
		"first fourth second"
	ok "a bad library" make_bad_library
	finds "what is exported" "$(exported "$tmp/bad.so")" \
		"bad_word counter started"
	finds "what is visible" "$(visible "$tmp/bad.o")" \
		"bad_word counter started"
	imported "$tmp/bad.o" >"$tmp/imported"
	finds "stdio" "$(stdio_of "$tmp/imported")" printf
	finds "ends" "$(ending_of "$tmp/imported")" "abort exit"
	finds "OpenMP" "$(openmp_of "$tmp/imported")" \
		omp_get_max_threads
	finds "what is not promised" "$(unpromised_of "$tmp/imported")" \
		"abort exit omp_get_max_threads printf"
	finds "libraries" "$(needed "$tmp/bad.so" | grep -o '^libm\.')" libm.
	finds "variables" "$(writable "$tmp/bad.o")" \
		"calls counter own started"
}

# libhpa

test_shared() {
	if [ ! -f "$shared" ]; then
		skip "the shared library" "configured with --disable-shared"
		return
	fi
	is "shared: it exports what hpa.h declares, and nothing else" \
		"$(exported "$shared")" "$(declared "$top_srcdir/include/hpa.h")"
	test_imports shared "$shared"
	if [ $instrumented = yes ]; then
		skip "shared: it needs libc and zlib only" "instrumented build"
		return
	fi
	is "shared: it needs libc and zlib only" \
		"$(needed "$shared" | grep -v -E '^(libc|libz|ld-linux.*)\.')" ""
	is "shared: it needs both" \
		"$(needed "$shared" | grep -c -E '^(libc|libz)\.')" 2
}

test_static() {
	if [ ! -f "$static" ]; then
		skip "the static library" "configured with --disable-static"
		return
	fi
	is "static: it shows what hpa.h declares, and nothing else" \
		"$(visible "$static")" "$(declared "$top_srcdir/include/hpa.h")"
	test_imports static "$static"
	if [ $instrumented = yes ]; then
		skip "static: it has no writable data" "instrumented build"
		return
	fi
	is "static: it has no writable data" "$(writable "$static")" ""
}

test_imports() {
	imported "$2" >"$tmp/imported"
	ok "$1: it imports something" grep -x mmap "$tmp/imported"
	is "$1: it never prints" "$(stdio_of "$tmp/imported")" ""
	is "$1: it never ends the program" "$(ending_of "$tmp/imported")" ""
	is "$1: it knows no OpenMP" "$(openmp_of "$tmp/imported")" ""
	if [ $instrumented = yes ]; then
		skip "$1: it calls only what hpa.h promises" "instrumented build"
		return
	fi
	is "$1: it calls only what hpa.h promises" \
		"$(unpromised_of "$tmp/imported")" ""
}

test_header() {
	is "hpa.h declares hpa_ names only" \
		"$(declared "$top_srcdir/include/hpa.h" | grep -v '^hpa_')" ""
	ok "hpa.h declares something" \
		[ "$(declared "$top_srcdir/include/hpa.h" | wc -l)" -gt 9 ]
}

# The includes of the tree

# included FOLDER: by its sources, as FILE:NAME.
included() {
	(cd "$top_srcdir" && grep '^ *# *include *"' "$1"/*.[ch]) |
		sed 's/: *# *include *"/:/;s/".*//'
}

# includes_only FOLDER PATTERN: the names that its sources include.
includes_only() {
	included "$1" >"$tmp/included"
	ok "$1 includes something" [ -s "$tmp/included" ]
	is "$1 includes only what it may" \
		"$(grep -v -E ":($2)\$" "$tmp/included")" ""
}

with_openmp() {
	(cd "$top_srcdir" &&
		grep -l -E '^ *# *pragma +omp|omp\.h|_OPENMP|omp_[a-z_]+\(' "$@")
}

test_tree() {
	readers='read|view|table|layout'
	includes_only formats 'formats/.*|hpa\.h'
	includes_only src/grid 'src/grid/.*|formats/hpa_layout\.h'
	includes_only src/run \
		"src/(run|grid)/.*|hpa\.h|formats/hpa_($readers)\.h"
	includes_only src/bake 'src/(bake|grid)/.*|formats/.*'
	ok "the baker has OpenMP" with_openmp src/bake/*.[ch]
	is "nothing else has" "$(with_openmp include/*.h formats/*.[ch] \
		src/grid/*.[ch] src/run/*.[ch] src/cli/*.[ch])" ""
}

test_checks
test_header
test_shared
test_static
cd "$top_srcdir" && test_tree
finish
