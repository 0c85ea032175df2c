# test_manual.sh: hpabake help, and the manual pages that it writes.
#
# What --help prints of a verb is taken apart into items: the lines of usage,
# and each option and each name that an option takes with what is said of it; of
# the program also the verbs. All of them must stand in the verb's manual page as
# groff formats it, once as it is installed and once as hpabake writes it of a
# verb without prose. Blanks, ends of lines and capitals are not compared.
. "$srcdir/tests/tap.sh"

# The page of a verb as it was built; of the program without one.
page_of() {
	echo "man/hpabake${1:+-$1}.1"
}

# As a terminal shows it, in long lines. ASCII lacks the u of Mueller.
format_page() {
	groff -t -man -T ascii -P -c -rLL=500n -rHY=0 "$1" 2>"$tmp/err" |
		sed 's/.'"$(printf '\010')"'//g'
}

# One line, small letters, single blanks.
flatten() {
	tr '\n\t' '  ' | tr -s ' ' | tr '[:upper:]' '[:lower:]'
}

# An item on each line. A line that is indented more than any item goes on with
# one. A verb is found by its page.
items() {
	"$@" | awk '
	function flush() {
		if (item)
			print tolower(item)
		item = ""
	}
	{ text = $0; gsub(/ +/, " ", text); sub(/^ /, "", text) }
	/^usage: / { sub(/^usage: /, "", text); print tolower(text); next }
	/^       hpabake / { print tolower(text); next }
	/^                            / { item = item " " text; next }
	/^  [a-z]+ +[A-Z]/ { text = "hpabake-" text; sub(/ /, "(1) ", text) }
	/^Exit codes:/ { exit }
	/^ / { flush(); item = text; next }
	{ flush() }
	END { flush() }'
}

# page_has_items PAGE: all lines of $tmp/items.
page_has_items() {
	format_page "$1" | flatten >"$tmp/page"
	[ -s "$tmp/items" ] || return 1
	missing=0
	while IFS= read -r item; do
		grep -q -F -e " $item" "$tmp/page" && continue
		echo "missing: $item"
		missing=1
	done <"$tmp/items"
	return $missing
}

# has_items PAGE COMMAND...: those that the command prints.
has_items() {
	(shift && items "$@") >"$tmp/items"
	page_has_items "$1"
}

sections() {
	sed -n 's/^\.SH //p' "$1" | tr '\n' ' '
}

# In the order in which manual pages have them, and each once.
has_sections() {
	sections "$1"
	[ -z "$(sed -n '/^\.SH /p' "$1" | sort | uniq -d)" ] &&
		case $(sections "$1") in
		"NAME SYNOPSIS DESCRIPTION "*"OPTIONS EXIT STATUS "*"SEE ALSO ")
			;;
		*) false ;;
		esac
}

is_listed() {
	case " $MAN_PAGES " in
	*" $1 "*) [ -s "$top_builddir/$1" ] ;;
	*) false ;;
	esac
}

same_output() {
	run hpabake $1
	[ "$status" = 0 ] && [ ! -s "$tmp/err" ] && [ -s "$tmp/out" ] || return 1
	cp "$tmp/out" "$tmp/first"
	run hpabake $2
	[ "$status" = 0 ] && cmp "$tmp/out" "$tmp/first"
}

# hpabake help

test_help() {
	ok "help is --help" same_output help --help
	for verb in $(verbs); do
		ok "help $verb is $verb --help" \
			same_output "help $verb" "$verb --help"
	done
	refuses "there is no verb 'frob'" help frob
	refuses "help takes one VERB, not 2" help bake info
	refuses "--prose goes with --man" help bake --prose x
	refuses "--common goes with --man" help --common x
	refuses "--completion takes no VERB" help --completion bake
	refuses "--completion takes no VERB and no --man" \
		help --completion --man
}

names_all_verbs() {
	run hpabake
	for verb in $(verbs); do
		grep -q -w -e "$verb" "$tmp/err" || return 1
	done
}

test_no_arguments() {
	refuses "no verb was given; usage: hpabake VERB [OPTION]..."
	ok "hpabake alone names all verbs" names_all_verbs
}

# Every verb has a source, and that is how configure knows its page.
verbs_of_source() {
	for source in "$top_srcdir"/src/cli/cmd_*.c; do
		basename "$source" .c | sed 's/^cmd_//'
	done | sort
}

# The pages

test_page_of() {
	page=$(page_of "$1")
	bare=$tmp/bare$1.1
	hpabake help --man $1 >"$bare"
	ok "$page is built, and will be installed" is_listed "$page"
	for file in "$top_builddir/$page" "$bare"; do
		ok "$page has its sections: ${file##*/}" has_sections "$file"
		ok "groff has nothing to say: ${file##*/}" \
			formats_quietly "$file"
		ok "all of${1:+ $1} --help is there: ${file##*/}" \
			has_items "$file" hpabake $1 --help
	done
}

# Each format with its suffixes, as "raw (.raw .bin)".
describes_formats() {
	run hpabake formats
	awk -F '  +' 'NR > 1 { print $1 " (" $2 ")" }' "$tmp/out" >"$tmp/items"
	page_has_items "$(page_of '')"
}

test_pages() {
	is "each verb has a source of its name" \
		"$(verbs)" "$(verbs_of_source)"
	if ! command -v groff >"$tmp/out"; then
		skip "manual pages" "groff is missing: apt-get install groff-base"
		return
	fi
	for verb in '' $(verbs); do
		test_page_of "$verb"
	done
	ok "hpabake.1 tells of each format" describes_formats
}

# Prose

# prose TEXT: into the file that the next tests read.
prose() {
	printf "$@" >"$tmp/prose"
}

refuses_prose() {
	ok "prose: $1" refused 3 "$tmp/prose:$1" \
		help --man info --prose "$tmp/prose"
}

# follows FIRST SECOND: as whole lines of the page, one directly after the other.
follows() {
	awk -v first="$1" -v second="$2" '
	before == first && $0 == second { found = 1 }
	{ before = $0 }
	END { exit !found }' "$tmp/out"
}

test_prose_places() {
	prose '.\\" a comment\n.SH DESCRIPTION\nIt tells.\n@option json\n%s\n%s' \
		'Said here.' '.SH FILES
None.
.SH EXIT STATUS
More of it.
'
	printf '@option json\nNot said.\n@option agent\nShared.\n' \
		>"$tmp/common"
	run hpabake help --man info --prose "$tmp/prose" --common "$tmp/common"
	is "a page with prose" "$status" 0
	ok "its description" follows '.SH DESCRIPTION' 'It tells.'
	ok "is all of the description" follows 'It tells.' '.SH OPTIONS'
	ok "what is said about an option comes after its row" follows \
		'Print JSON: an object for one file, an array for several.' \
		'Said here.'
	ok "what all verbs say, too" follows \
		'Tell of the agent of that name; without it, of all.' 'Shared.'
	ok "but not instead of what the verb says" \
		[ -z "$(grep 'Not said' "$tmp/out")" ]
	ok "more of a section comes after the tables" follows .PP 'More of it.'
	ok "and before the next one" follows 'More of it.' '.SH FILES'
	ok "comments are not taken over" [ -z "$(grep comment "$tmp/out")" ]
	ok "the last section" follows 'None.' '.SH SEE ALSO'
}

test_prose_mistakes() {
	prose '.SH DESCRIPTION\nA.\n@option frob\nB.\n'
	refuses_prose "3: info has no option --frob"
	ok "no verb has such an option" \
		refused 3 "$tmp/prose:3: no verb has no option --frob" \
		help --man info --common "$tmp/prose"
	prose '@option cells\nShared.\n'
	refuses_prose "1: info has no option --cells"
	ok "of another verb it may be" \
		hpabake help --man info --common "$tmp/prose"
	prose '.\\" a comment\nA.\n.SH DESCRIPTION\n'
	refuses_prose "2: a line '.SH NAME' or '@option NAME' must come first"
	prose '.SH FILES\nA.\n@option json\nB.\n.SH FILES\nC.\n'
	refuses_prose "5: .SH FILES begins here for the second time"
	prose '@option json\nA.\n@option json\nB.\n'
	refuses_prose "3: @option json begins here for the second time"
	prose '.SH FILES\nA.'
	refuses_prose "2: the last line has no end"
	rm "$tmp/prose"
	ok "no prose" refused 1 "$tmp/prose: " \
		help --man info --prose "$tmp/prose"
}

# Installation

make_in_build() {
	MAKEFLAGS= "$MAKE" -C "$top_builddir" "DESTDIR=$tmp/installed" "$1" \
		>"$tmp/make.log" 2>&1 || {
		cat "$tmp/make.log"
		false
	}
}

is_installed() {
	find "$tmp/installed" -type f | sort
	[ -s "$tmp/installed$1" ]
}

test_installation() {
	ok "make install" make_in_build install
	for verb in '' $(verbs); do
		page=$(page_of "$verb")
		ok "$page is installed" \
			is_installed "$mandir/man1/${page##*/}"
	done
	if [ "$bashcompletiondir" = no ]; then
		skip "completion" "configured without"
	else
		ok "the completion is installed" \
			is_installed "$bashcompletiondir/hpabake"
	fi
	ok "make uninstall" make_in_build uninstall
	is "nothing is left" "$(find "$tmp/installed" -type f)" ""
}

test_help
test_no_arguments
test_pages
test_prose_places
test_prose_mistakes
test_installation
finish
