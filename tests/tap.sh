# tap.sh: what shell tests share: TAP, a scratch folder, a way to run things.
#
# A test begins with
#
#     . "$srcdir/tests/tap.sh"
#
# says what it has to say with ok, is and skip, and ends with finish, which
# prints the plan. One that dies on the way has no plan, and the driver counts
# that as an error. The scratch folder $tmp is in the build directory, because
# the source tree may be read-only; it is removed at exit.
#
#     ok NAME COMMAND...     pass if the command succeeds; if it does not, what
#                            it printed is shown
#     is NAME GOT EXPECTED   pass if the two texts are equal
#     skip NAME REASON       could not be tested here
#     diag TEXT...           for the reader of the log
#     run COMMAND...         run it; its exit code is in $status, what it
#                            printed in $tmp/out and $tmp/err
#     verbs                  those that hpabake --help lists, a line for each
#     formats_quietly PAGE   groff has nothing to say about a manual page
#     finish                 print the plan; exit with 1 if a test failed
#
# and of hpabake, which is called by that name:
#
#     succeeds ARGUMENT...             it does, and has no complaint
#     complains CODE TEXT ARGUMENT...  one line, which begins with the text
#     complained CODE TEXT             the same, of what was run last
#
# A name must not contain "#", which begins a directive of TAP.

n_tests=0
n_failed=0
status=0
tmp=$top_builddir/tests/$(basename "$0" .sh).$$.tmp

clean_up() {
	chmod -R u+rwX "$tmp"
	rm -rf "$tmp"
}

mkdir -p "$tmp" || exit 1
trap clean_up EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

diag() {
	printf '%s\n' "$*" | sed 's/^/# /'
}

pass() {
	n_tests=$((n_tests + 1))
	printf 'ok %d - %s\n' "$n_tests" "$1"
}

fail() {
	n_tests=$((n_tests + 1))
	n_failed=$((n_failed + 1))
	printf 'not ok %d - %s\n' "$n_tests" "$1"
}

ok() {
	name=$1
	shift
	if "$@" >"$tmp/.ok" 2>&1; then
		pass "$name"
	else
		fail "$name"
		diag "failed: $*"
		sed 's/^/#   /' "$tmp/.ok"
	fi
}

is() {
	if [ "$2" = "$3" ]; then
		pass "$1"
	else
		fail "$1"
		diag "got:"
		printf '%s\n' "$2" | sed 's/^/#   /'
		diag "expected:"
		printf '%s\n' "$3" | sed 's/^/#   /'
	fi
}

skip() {
	pass "$1 # SKIP $2"
}

run() {
	status=0
	"$@" >"$tmp/out" 2>"$tmp/err" || status=$?
}

verbs() {
	"$HPABAKE" --help | sed -n 's/^  \([a-z][a-z]*\)  *[A-Z].*/\1/p'
}

formats_quietly() {
	run groff -t -man -ww -z -T utf8 "$1"
	cat "$tmp/out" "$tmp/err"
	[ "$status" = 0 ] && [ ! -s "$tmp/out" ] && [ ! -s "$tmp/err" ]
}

hpabake() {
	"$HPABAKE" "$@"
}

succeeds() {
	run hpabake "$@"
	cat "$tmp/out" "$tmp/err"
	[ "$status" = 0 ] && [ ! -s "$tmp/err" ]
}

complained() {
	echo "exit code $status, expected $1 and one line 'hpabake: $2...'"
	cat "$tmp/err"
	[ "$status" = "$1" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
		case $(cat "$tmp/err") in
		"hpabake: $2"*) ;;
		*) false ;;
		esac
}

complains() {
	code=$1 text=$2
	shift 2
	run hpabake "$@"
	complained "$code" "$text"
}

finish() {
	printf '1..%d\n' "$n_tests"
	[ "$n_failed" = 0 ] || exit 1
	exit 0
}
