# test_examples.sh: the examples of README.md and the manual pages work.
#
# Each page is cut into steps, in the order in which one reads it. A console
# block holds commands, in lines that begin with "$ "; lines that begin with
# "> " go on with one; what follows is what it prints, on either stream. A block
# of C, make or ninja is a file; its name is the first word of the comment in its
# first line. In README.md the blocks are fenced as ```console, ```c, ```make and
# ```ninja, in a manual page they stand between .EX and .EE. Other blocks (```sh, ```text) are no examples
# but what one does once, to build, and are not run.
#
# A page has a folder of its own with the levels of data/ in it. There its
# steps are done one after the other, and all that a command prints must be
# what the page says, but for what may differ from machine to machine:
#
#   - a time, with the blanks before it, for it stands in a column of its own;
#   - the version of zlib.
#
# Nothing has to be installed: `hpabake` and `cc` are wrappers on the PATH, and
# pkg-config finds a copy of the build's libhpa.pc that leads to the header in
# the source and the library in the build.
#
# The manual pages must also be formatted by groff without a warning. Those of
# the verbs are in the build directory; one that has no prose in man/ has no
# examples either.
. "$srcdir/tests/tap.sh"

# What the examples take for granted

make_wrappers() {
	mkdir "$tmp/bin"
	cat >"$tmp/bin/hpabake" <<-END
	#!/bin/sh
	exec "$HPABAKE" "\$@"
	END
	cat >"$tmp/bin/cc" <<-END
	#!/bin/sh
	exec $CC -Wall -Wextra $CFLAGS $SANITIZER_FLAGS "\$@"
	END
	chmod +x "$tmp/bin/hpabake" "$tmp/bin/cc"
	PATH=$tmp/bin:$PATH
	export PATH
}

# Where only the static library was built a program needs what it needs.
make_pkg_config() {
	private=Requires.private
	[ -f "$top_builddir/.libs/libhpa.so" ] || private=Requires
	mkdir "$tmp/pkgconfig"
	sed -e "s|^libdir=.*|libdir=$top_builddir/.libs|" \
		-e "s|^includedir=.*|includedir=$top_srcdir/include|" \
		-e "s|^Requires.private|$private|" \
		"$top_builddir/libhpa.pc" >"$tmp/pkgconfig/libhpa.pc"
	PKG_CONFIG_PATH=$tmp/pkgconfig${PKG_CONFIG_PATH:+:$PKG_CONFIG_PATH}
	LD_LIBRARY_PATH=$top_builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
	export PKG_CONFIG_PATH LD_LIBRARY_PATH
}

# Pictures on the pages are made of block characters and have no colours; make
# is not told that it is below another one.
set_terminal() {
	LC_ALL=C.UTF-8
	NO_COLOR=1
	export LC_ALL NO_COLOR
	unset MAKEFLAGS MFLAGS MAKELEVEL
}

# From a page to its blocks: each between lines "@begin" and "@end".

readme_blocks() {
	awk '
	/^```(console|c|make|ninja)$/ { is_in = 1; print "@begin"; next }
	/^```/ { if (is_in) print "@end"; is_in = 0; next }
	is_in' "$1"
}

# The source of a manual page is roff. An escape that is not known here stays,
# and the example fails.
man_blocks() {
	bell=$(printf '\007')
	sed -n '/^\.EX$/,/^\.EE$/p' "$1" |
		sed -e 's/^\.EX$/@begin/' -e 's/^\.EE$/@end/' \
			-e "s/\\\\e/$bell/g" \
			-e 's/\\-/-/g' \
			-e 's/\\&//g' \
			-e "s/\\\\(aq/'/g" \
			-e "s/$bell/\\\\/g"
}

# write_steps FOLDER < BLOCKS: a command is NUMBER.cmd and NUMBER.out, a source
# has its own name. A block that is neither goes to FOLDER/unknown.
write_steps() {
	awk -v folder="$1" '
	function add(suffix, line) { print line >(folder "/" suffix) }
	function begin_step() {
		if (n)
			close(folder "/" step ".cmd")
		step = sprintf("%03d", ++n)
		printf "" >(folder "/" step ".out")
	}
	function kind_of(line) {
		if (line ~ /^\$ /)
			return "console"
		if (line ~ /^\/\* [a-z_]+\.c: / || line ~ /^# [A-Za-z.]+: /)
			return "file"
		return "unknown"
	}
	$0 == "@begin" { is_first = 1; next }
	$0 == "@end" { next }
	is_first {
		is_first = 0
		kind = kind_of($0)
		source = $2
		sub(/:$/, "", source)
	}
	kind == "unknown" { add("unknown", $0); next }
	kind == "file" { add(source, $0); next }
	/^\$ / { begin_step(); add(step ".cmd", substr($0, 3)); next }
	/^> / { add(step ".cmd", substr($0, 3)); next }
	{ add(step ".out", $0) }'
}

# What may differ, made equal; see above.
normalise() {
	sed -E -e 's/ +[0-9]+\.[0-9]+ (ns|us|ms|s)$/ TIME/' \
		-e 's/zlib [0-9][0-9A-Za-z.-]*/zlib VERSION/'
}

# do_step FOLDER STEP: run the command in the folder and compare.
do_step() (
	cd "$1" || exit 1
	sh "steps/$2.cmd" >got 2>&1 </dev/null || echo "exit code $?" >>got
	normalise <got >got.normal
	normalise <"steps/$2.out" >expected.normal
	diff -u expected.normal got.normal
)

# needs_more STEP.CMD: a program that hpabake does not need is missing.
needs_more() {
	grep -q '^ninja' "$1" && ! command -v ninja >"$tmp/out"
}

is_compiled() {
	cat "$1"/steps/*.cmd | grep -q "^cc ${2##*/} "
}

# A page that was generated, else one of the source.
page_file() {
	if [ -f "$top_builddir/$1" ]; then
		echo "$top_builddir/$1"
	else
		echo "$top_srcdir/$1"
	fi
}

is_without_prose() {
	case $1 in
	man/hpabake*.1) [ ! -f "$top_srcdir/${1%.1}.in" ] ;;
	*) false ;;
	esac
}

# test_page NAME BLOCKS: BLOCKS is the function that finds them.
test_page() {
	folder=$tmp/${1##*/}
	mkdir -p "$folder/steps"
	cp -R "$top_srcdir"/data/. "$folder"
	chmod -R u+w "$folder"
	chmod u+w "$folder"/*.map
	"$2" "$(page_file "$1")" | write_steps "$folder/steps"
	ok "$1 has examples" test -s "$folder/steps/001.cmd"
	ok "$1 has no example of an unknown kind" \
		test ! -e "$folder/steps/unknown"
	for source in "$folder"/steps/Makefile "$folder"/steps/*.ninja; do
		[ ! -f "$source" ] || cp "$source" "$folder"
	done
	for source in "$folder"/steps/*.c; do
		[ -f "$source" ] || continue
		cp "$source" "$folder"
		ok "$1: ${source##*/} is compiled" is_compiled "$folder" "$source"
	done
	for command in "$folder"/steps/*.cmd; do
		step=$(basename "$command" .cmd)
		name="$1: $(head -n 1 "$command" | tr '#' ' ')"
		if needs_more "$command"; then
			skip "$name" "ninja is missing: apt-get install ninja-build"
		else
			ok "$name" do_step "$folder" "$step"
		fi
	done
}

# The formatter

test_formatting() {
	if command -v groff >"$tmp/out"; then
		ok "groff has nothing to say about $1" \
			formats_quietly "$(page_file "$1")"
	else
		skip "$1" "groff is missing: apt-get install groff-base"
	fi
}

# README.md shows pictures and a table that its own examples make: in the page's
# folder they are beside what is in doc/ and on the page.

same_picture() {
	python3 "$top_srcdir/tests/draw_oracle.py" same \
		"$top_srcdir/doc/$1" "$tmp/README.md/$1"
}

# has_lines PAGE FILE: every line of the file, in its order and without a gap.
has_lines() {
	awk '
	NR == FNR { wanted[++n] = $0; next }
	$0 != wanted[matched + 1] { matched = 0 }
	$0 == wanted[matched + 1] { matched++ }
	matched == n { found = 1; exit }
	END { exit !(n > 0 && found) }' "$2" "$1"
}

test_pictures() {
	ok "README.md shows the table that diff makes" \
		has_lines "$top_srcdir/README.md" "$tmp/README.md/diff.md"
	for picture in "$top_srcdir"/doc/*.png; do
		picture=${picture##*/}
		ok "README.md shows doc/$picture" \
			grep -q "](doc/$picture)" "$top_srcdir/README.md"
		if command -v python3 >"$tmp/out"; then
			ok "doc/$picture is what its example draws" \
				same_picture "$picture"
		else
			skip "doc/$picture" \
				"python3 is missing: apt-get install python3"
		fi
	done
}

make_wrappers
make_pkg_config
set_terminal
test_page README.md readme_blocks
test_pictures
for page in $MAN_PAGES; do
	is_without_prose $page || test_page $page man_blocks
	test_formatting $page
done
finish
