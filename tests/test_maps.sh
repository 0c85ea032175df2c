# test_maps.sh: every problem of every real level, as a user would ask it.
#
# The levels are in the folder that HPA_MAPS names, each with its problems in a
# .scen file beside it. A level is baked and `hpabake path --scen --cells`
# answers all of its problems. Two judges look at the answers:
#
#   - pathcheck, a program of its own that lies beside the levels and shares
#     nothing with this project: it reads level and problems itself, walks
#     every path and compares with the stated optimum. It sees every problem.
#   - `hpabake verify`, whose oracle also knows what no path can beat where the
#     stated length is no help. It searches the whole grid for every problem,
#     so it gets a few problems of each level, evenly spread, and all of those
#     that were answered with no path: there it must find none either. Where
#     there is no pathcheck it is the only judge.
#
# The mazes are baked with cached paths: theirs are the longest, and so that way
# of refining is judged too.
#
# tests/test_invariants.c asks the same problems through the library, in several
# bakes at once. Sanitizers slow all of this down; under them only every so
# many problems are asked.
#
# Levels wait in a row and are judged side by side, one for each core. What is
# found out about a level is kept in a folder of its own, and told when all are
# done, in the order of their names.
#
# Last come files that are no levels. Each must be refused with one line that
# says where the fault is, and must leave nothing behind; or its flaw is one
# that hpabake(1) says is tolerated.
. "$srcdir/tests/tap.sh"

folders="dao da2 sc1 bg512 wc3maps512 cities rooms random mazes"
untrusted="wc3maps512" # states lengths that no path can have
cached="mazes"         # is baked with --cache-paths
n_verified=30          # problems of a level that verify gets
stride=1
judge=

if [ ! -d "$HPA_MAPS" ]; then
	skip "real levels" "HPA_MAPS names no folder"
	finish
fi

# Which problems are asked

# Blank lines are none.
n_problems() {
	awk 'NR > 1 && NF { n++ } END { print n + 0 }' "$1"
}

# thin SCEN STRIDE: every so many problems. The first line is the version.
thin() {
	awk -v stride="$2" 'NR == 1 || (NR - 2) % stride == 0' "$1"
}

# pick SCEN N: about N problems, evenly spread.
pick() {
	thin "$1" $(($(wc -l <"$1") / $2 + 1))
}

# pick_unanswered SCEN ANSWERS: the problems that have no path.
pick_unanswered() {
	awk -F '\t' '
	NR == FNR { if ($2 != "ok") asked[$1 + 2] = 1; next }
	FNR == 1 || FNR in asked' "$2" "$1"
}

# The judges. Each leaves its verdict in the level's folder.

# The judge needs no sanitizers: it is not what is tested.
compile_judge() {
	$CC -O2 -w "$1" -lm -o "$tmp/pathcheck"
}

make_judge() {
	source=$HPA_MAPS/../judge/pathcheck.c
	if [ -f "$source" ]; then
		ok "the judge compiles" compile_judge "$source"
		judge=$tmp/pathcheck
	else
		n_verified=200
		diag "no judge beside the levels: verify judges alone," \
			"about $n_verified problems of each"
	fi
}

# is_in FOLDER LEVEL: is the level in that folder?
is_in() {
	case $2 in
	*/"$1"/*) ;;
	*) false ;;
	esac
}

run_judge() {
	if is_in $untrusted "$1"; then
		NO_OPTIMA=1 "$judge" "$@"
	else
		"$judge" "$@"
	fi
}

judge_answers() {
	{
		"$HPABAKE" path "$1/hpa" --scen "$1/scen" --cells 2>&1
		echo $? >"$1/path.status"
	} | run_judge "$2" "$1/scen" >"$1/judged" 2>&1
	echo $? >"$1/judge.status"
}

# verify FOLDER LEVEL NAME: the problems of NAME.scen
verify() {
	"$HPABAKE" verify "$1/hpa" --level "$2" --scen "$1/$3.scen" \
		>"$1/$3" 2>&1 || echo "exit code $?" >>"$1/$3"
}

# What has no path: asked once more, without the cells, by word.
verify_unanswered() {
	"$HPABAKE" path "$1/hpa" --scen "$1/scen" >"$1/words"
	pick_unanswered "$1/scen" "$1/words" >"$1/unanswered.scen"
	verify "$1" "$2" unanswered
}

# has_unanswered VERDICT: did pathcheck see problems without a path?
has_unanswered() {
	! grep -q ' nopath 0 ' "$1"
}

bake() {
	options=-q
	! is_in $cached "$2" || options="-q --cache-paths"
	"$HPABAKE" bake $options "$2" -o "$1/hpa" >"$1/baked" 2>&1
}

# judge_level FOLDER LEVEL
judge_level() {
	thin "$2.scen" $stride >"$1/scen"
	bake "$1" "$2" || return
	if [ -n "$judge" ]; then
		judge_answers "$1" "$2"
		has_unanswered "$1/judged" && verify_unanswered "$1" "$2"
	fi
	pick "$1/scen" $n_verified >"$1/verified.scen"
	verify "$1" "$2" verified
	rm -f "$1/hpa"
}

# Side by side

each_level() {
	for folder in $folders; do
		for scen in "$HPA_MAPS/$folder"/*.map.scen; do
			[ ! -f "$scen" ] || "$1" "${scen%.scen}"
		done
	done
}

# Where a level's findings are kept.
folder_of() {
	printf '%s\n' "$tmp/$(basename "$(dirname "$1")").$(basename "$1")"
}

# Who makes the folder judges the level; the others pass on to the next.
judge_if_first() {
	mkdir "$(folder_of "$1")" 2>/dev/null || return 0
	judge_level "$(folder_of "$1")" "$1"
}

judge_side_by_side() {
	n_lanes=$(getconf _NPROCESSORS_ONLN 2>/dev/null || echo 1)
	while [ "$n_lanes" -gt 0 ]; do
		each_level judge_if_first &
		n_lanes=$((n_lanes - 1))
	done
	wait
}

# What was found

# says FILE TEXT: is that text a line of it? It is shown where it is not.
says() {
	cat "$1"
	grep -q -x -E "$2" "$1"
}

# All problems were asked, and each has the right answer.
judged_right() {
	says "$1/path.status" 0 && says "$1/judge.status" 0 &&
		says "$1/judged" \
			"problems $(n_problems "$1/scen") wrong 0 .*"
}

verified_right() {
	says "$1" "problems +$(n_problems "$1.scen")" &&
		says "$1" "wrong +0" && ! grep '^exit code' "$1"
}

tell_level() {
	found=$(folder_of "$1")
	level=${1#"$HPA_MAPS/"}
	n_told=$((n_told + 1))
	ok "$level is baked" test -f "$found/baked" -a ! -s "$found/baked"
	if [ -n "$judge" ]; then
		ok "$level: the judge agrees" judged_right "$found"
		diag "$(cat "$found/judged" 2>&1)"
	fi
	ok "$level: verify agrees" verified_right "$found/verified"
	if [ -f "$found/unanswered" ]; then
		ok "$level: verify agrees where there is no path" \
			verified_right "$found/unanswered"
		ok "$level: there is none indeed" \
			says "$found/unanswered" "reachable +0"
	fi
}

test_levels() {
	if [ -n "$SANITIZER_FLAGS" ]; then
		stride=8
		diag "sanitizers are slow: one of $stride problems is asked"
	fi
	make_judge
	judge_side_by_side
	n_told=0
	each_level tell_level
	[ "$n_told" -gt 0 ] || skip "real levels" "HPA_MAPS has none"
}

# Files that are no levels

# The line of the fault, for the faults whose line there can be no doubt about.
fault_line() {
	case ${1##*/} in
	100_island_rows_one_short.map) echo 5 ;;
	Instance-16-0-7_type_unknown.map) echo 1 ;;
	Paris_1_256_two_maps_concatenated.map) echo 262 ;;
	arena_trailing_bibtex.map) echo 55 ;;
	bloodvenomfalls-mixed0[12]_cost_header.map) echo 4 ;;
	brc202d_no_header.map) echo 1 ;;
	den602d_AB_endpoints_in_grid.map) echo 68 ;;
	keydoor_21rows_height20.map) echo 4 ;;
	maze512-8-0_hash_walls_AB.map) echo 5 ;;
	*) echo '[0-9]+' ;;
	esac
}

# refused FILE COMMAND...: exit code 3, one line on FILE, no file in $tmp/none.
refused() {
	line=$(fault_line "$1")
	file=$1
	shift
	rm -rf "$tmp/none"
	mkdir "$tmp/none"
	run "$@"
	cat "$tmp/out" "$tmp/err"
	ls -A "$tmp/none"
	[ "$status" = 3 ] && [ ! -s "$tmp/out" ] &&
		[ "$(wc -l <"$tmp/err")" -eq 1 ] &&
		[ -z "$(ls -A "$tmp/none")" ] &&
		grep -q -E ":$line: .+" "$tmp/err" &&
		grep -q -F "hpabake: $file:" "$tmp/err"
}

# Lines that end in CR LF are tolerated: the same bytes without the CR.
bakes_as_without_cr() {
	tr -d '\r' <"$1" >"$tmp/lf.map" &&
		"$HPABAKE" bake -q "$1" -o "$tmp/crlf.hpa" &&
		"$HPABAKE" bake -q "$tmp/lf.map" -o "$tmp/lf.hpa" &&
		cmp "$tmp/crlf.hpa" "$tmp/lf.hpa"
}

test_bad_level() {
	case $1 in
	*/StarCraft_Frozen_Sea_CRLF.map)
		ok "${1##*/} is tolerated" bakes_as_without_cr "$1"
		;;
	*)
		ok "${1##*/} is refused" refused "$1" \
			"$HPABAKE" bake "$1" -o "$tmp/none/x.hpa"
		;;
	esac
}

test_bad_scen() {
	"$HPABAKE" bake -q "$top_srcdir/data/castle.map" -o "$tmp/castle.hpa"
	ok "${1##*/} is refused" refused "$1" \
		"$HPABAKE" path "$tmp/castle.hpa" --scen "$1"
}

test_bad_files() {
	if [ ! -d "$HPA_MAPS/malformed" ]; then
		skip "bad files" "HPA_MAPS has no malformed"
		return
	fi
	for file in "$HPA_MAPS"/malformed/*.map "$HPA_MAPS"/formats/notmap/*.map
	do
		[ ! -f "$file" ] || test_bad_level "$file"
	done
	for file in "$HPA_MAPS"/malformed/*.scen; do
		[ ! -f "$file" ] || test_bad_scen "$file"
	done
}

# Other formats: each file is baked as all levels that are in it, and verify
# finds the level again; or it is refused with one line.

is_no_level() {
	case ${1##*/} in
	LICENSE* | invalid_image.yaml | *.ldtkl) ;;
	*) false ;;
	esac
}

# One line that names the file; nothing is left behind. The exit code is that of
# bad input or, where an image is missing, of a file that is.
refused_without_line() {
	rm -rf "$tmp/none"
	run "$HPABAKE" bake "$1" -d "$tmp/none"
	cat "$tmp/err"
	[ "$status" = 3 ] || [ "$status" = 1 ] || return
	[ "$(wc -l <"$tmp/err")" -eq 1 ] && [ -z "$(ls -A "$tmp/none")" ] &&
		grep -q -F "hpabake: $1:" "$tmp/err"
}

bakes_and_verifies() {
	rm -rf "$tmp/some"
	"$HPABAKE" bake -q "$1" -d "$tmp/some" || return
	for baked in "$tmp/some"/*.hpa; do
		found=$(basename "$baked" .hpa)
		stem=$(basename "$1")
		stem=${stem%.*}
		if [ "$found" = "$stem" ]; then
			"$HPABAKE" verify "$baked" --level "$1"
		else
			"$HPABAKE" verify "$baked" --level "$1" \
				--pick "${found#"${stem}_"}"
		fi || return
	done
}

test_formats() {
	for file in "$HPA_MAPS"/formats/png/* "$HPA_MAPS"/formats/ros/* \
		"$HPA_MAPS"/formats/tmx/* "$HPA_MAPS"/formats/ldtk/*.*; do
		[ -f "$file" ] || continue
		if is_no_level "$file"; then
			ok "${file##*/} is refused" refused_without_line "$file"
		else
			ok "${file##*/} is read" bakes_and_verifies "$file"
		fi
	done
}

# A level of sixteen terrain letters, with a price for each.
test_weighted() {
	level=$HPA_MAPS/weighted/Map1.map
	if [ ! -f "$level" ]; then
		skip "weighted level" "HPA_MAPS has none"
		return
	fi
	cat >"$tmp/terrain" <<-END
	A ground   1
	B ground   1
	C road     1
	D road     1
	E grass    2
	F grass    2
	G trees    4
	H trees    4
	I mud      6
	J mud      6
	K sand     3
	L sand     3
	M hill     5
	N hill     5
	O mountain 0
	P mountain 0
	END
	awk 'BEGIN {
		srand(7)
		print "version 1"
		for (i = 0; i < 12; i++)
			print 0, "Map1.map", 2048, 2048, int(2048 * rand()),
				int(2048 * rand()), int(2048 * rand()),
				int(2048 * rand()), 0
	}' >"$tmp/weighted.scen"
	ok "Map1.map is baked" "$HPABAKE" bake -q "$level" \
		--terrain "$tmp/terrain" -o "$tmp/weighted.hpa"
	"$HPABAKE" verify "$tmp/weighted.hpa" --level "$level" \
		--terrain "$tmp/terrain" --scen "$tmp/weighted.scen" \
		>"$tmp/weighted" 2>&1 || echo "exit code $?" >>"$tmp/weighted"
	ok "Map1.map: verify agrees" verified_right "$tmp/weighted"
}

test_levels
test_bad_files
test_formats
test_weighted
finish
