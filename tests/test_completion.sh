# test_completion.sh: what bash offers after the beginning of a command line.
#
# The script is the one that make install installs. It is sourced in bash and
# its function called as bash does: the words before the cursor in COMP_WORDS,
# cut at = and : too, the last one being that to complete. What there is to
# offer is known from --help.
. "$srcdir/tests/tap.sh"

script=$top_builddir/completion/hpabake

hpabake() {
	"$HPABAKE" "$@"
}

# complete WORD...: what is offered for the last word, sorted, a line for each.
complete() {
	bash -c '
	. "$1" || exit 1
	shift
	COMP_WORDS=(hpabake "$@")
	COMP_CWORD=$#
	_hpabake
	[[ ${#COMPREPLY[@]} == 0 ]] || printf "%s\n" "${COMPREPLY[@]}"
	' bash "$script" "$@" 2>&1 | sort
}

# offers EXPECTED WORD...: these words, in any order, and no others.
offers() {
	expected=$(printf '%s\n' $1 | sort)
	shift
	is "hpabake $* [TAB]" "$(complete "$@")" "$expected"
}

# From --help

# Of a verb, or of the program: all options, long and short.
options() {
	hpabake $1 --help | sed -n -E \
		-e 's/^ +(-[^ ]+), (--[^ ]+).*/\1 \2/p' \
		-e 's/^ +(--[^ ]+).*/\1/p'
}

# "--option TAKES" of those that take something.
taking() {
	hpabake "$1" --help |
		sed -n -E 's/^ +(-[^ ]+, )?(--[^ ]+) ([A-Z][^ ]*)( .*|$)/\2 \3/p'
}

# The names that an option takes; every:K is offered as every:, and rays[:K] as
# rays and rays:.
names() {
	hpabake "$1" --help | awk -v option="$2" '
	/^ +(-[^ ]+, )?--/ { is_it = $1 == option || $2 == option; next }
	is_it && /^        [^ ]/ {
		if (sub(/\[:K\]$/, "", $1))
			print $1 ":"
		sub(/:K$/, ":", $1)
		print $1
	}'
}

test_script() {
	run hpabake help --completion
	ok "what is installed is what hpabake writes" cmp "$tmp/out" "$script"
	ok "bash has nothing to say about it" bash -n "$script"
	is "it is about hpabake" \
		"$(bash -c '. "$1"; complete -p hpabake' bash "$script")" \
		"complete -F _hpabake hpabake"
}

test_words() {
	offers "$(verbs) $(options)" ''
	offers "bake" ba
	offers "-V --version -h --help" -
	offers "$(verbs)" help ''
	offers "verify" help ver
	offers "" frob ''
	for verb in $(verbs); do
		offers "$(options $verb)" $verb -
		offers "--help" $verb --hel
	done
	offers "--transitions" bake --tr
	offers "--cluster-size --compress --cache-paths" bake --c
}

# Each option after which there are names.
test_names() {
	offers "ends spread every:" bake --transitions ''
	offers "every:" bake x.map --transitions ev
	offers "ends spread every:" bake --transitions =
	offers "spread" bake --transitions = s
	offers "" bake --transitions = every :
	offers "" bake --transitions = every : 4
	offers "8 8-loose" bake --moves 8
	offers "none rays rays: shortcuts corridor" path --smooth ''
	for verb in $(verbs); do
		taking $verb >"$tmp/taking"
		while read -r option takes <&3; do
			names=$(names $verb $option)
			[ -z "$names" ] || offers "$names" $verb $option ''
		done 3<"$tmp/taking"
	done
}

# The folder has a level, a .scen, a folder, and nothing else.
test_files() {
	all="a.map a.scen folder"
	for verb in $(verbs); do
		taking $verb >"$tmp/taking"
		while read -r option takes <&3; do
			[ -z "$(names $verb $option)" ] || continue
			case $takes in
			FILE* | LEVEL* | OUT* | SCEN*) files=$all ;;
			DIR*) files=folder ;;
			*) files= ;;
			esac
			offers "$files" $verb $option ''
		done 3<"$tmp/taking"
	done
	for verb in bake info path verify; do
		offers "$all" $verb ''
		offers "a.map a.scen" $verb a
		offers "$all" $verb -- ''
	done
	offers "" formats ''
	offers "a.map a.scen" bake -o a
	offers "folder" bake -d ''
	offers "folder" bake --directory = f
	offers "a.map a.scen" verify --level = a
	offers "a.map a.scen" path x.hpa --scen a
	offers "" bake -- -
	offers "" bake --jobs ''
	offers "" bake -j ''
}

# One name, whatever is in it.
test_blanks() {
	: >'b c.map'
	is "a name with a blank" "$(complete bake b)" "b c.map"
	is "a name with a blank, all of it" "$(complete bake 'b c')" "b c.map"
}

# In a shell that has its own ideas.
complete_strictly() {
	bash -u -c '
	. "$1"
	IFS=-
	COMP_WORDS=(hpabake bake --cl)
	COMP_CWORD=2
	_hpabake
	printf "%s\n" "${COMPREPLY[@]}"
	' bash "$script" 2>&1
}

test_settings() {
	is "IFS does not matter, nor does set -u" "$(complete_strictly)" \
		"--cluster-size"
}

if ! command -v bash >"$tmp/out"; then
	skip "completion" "bash is missing: apt-get install bash"
	finish
fi
mkdir "$tmp/here" "$tmp/here/folder" && cd "$tmp/here" || exit 1
: >a.map
: >a.scen
test_script
test_words
test_names
test_files
test_blanks
test_settings
finish
