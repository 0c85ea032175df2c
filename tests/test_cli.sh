# test_cli.sh: hpabake as its user meets it: every verb, option and exit code.
#
# What is expected comes from the manual page and from levels that are small
# enough to count by hand; the counting stands beside the level. JSON is read
# by a program of a few lines that prints a leaf per line, NAME=VALUE, where a
# name is the way to the leaf: levels.0.nodes=8.
#
# What happens to a file when its bake is killed or the disk fails is tested at
# the worst moment, when all is written and nothing is renamed: a preloaded
# fsync() fails there, or waits for the signal.
. "$srcdir/tests/tap.sh"

LC_ALL=C
export LC_ALL
unset NO_COLOR
mkdir "$tmp/work" && cd "$tmp/work" || exit 1

# Helpers

# level FILE ROW...: write a MovingAI map.
level() {
	file=$1
	shift
	{
		printf 'type octile\nheight %d\nwidth %d\nmap\n' $# ${#1}
		printf '%s\n' "$@"
	} >"$file"
}

# open_level FILE WIDTH HEIGHT: one without a wall.
open_level() {
	awk -v w="$2" -v h="$3" 'BEGIN {
		for (x = 0; x < w; x++)
			row = row "."
		printf "type octile\nheight %d\nwidth %d\nmap\n", h, w
		for (y = 0; y < h; y++)
			print row
	}' >"$1"
}

# scen FILE MAP W H "X1 Y1 X2 Y2"...: write a problem file.
scen() {
	file=$1 of="$2	$3	$4"
	shift 4
	{
		echo 'version 1'
		for problem; do
			printf '0\t%s\t%s\t0\n' "$of" "$problem"
		done
	} >"$file"
}

# accepts OPTION...: the level is missing, and that is all that is wrong.
accepts() {
	ok "bake accepts $*" complains 1 'no-such.map: ' \
		bake "$@" no-such.map -o no-such.hpa
}

# bake_to FILE ARGUMENT...
bake_to() {
	to=$1
	shift
	hpabake bake -q "$@" -o "$to"
}

# prints NAME EXPECTED ARGUMENT...: on stdout, exactly, and succeeds.
prints() {
	name=$1 expected=$2
	shift 2
	run hpabake "$@"
	is "$name" "exit code $status
$(cat "$tmp/out" "$tmp/err")" "exit code 0
$expected"
}

# as_nobody COMMAND...: root may write anywhere, this user nowhere.
as_nobody() {
	setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
}

folder_has() {
	is "$1" "$(ls -A "$2" | tr '\n' ' ')" "$3"
}

build_json_reader() {
	$CC $CFLAGS $(pkg-config --cflags jansson) "$srcdir/tests/flat.c" \
		-o flat $(pkg-config --libs jansson)
}

# flatten FILE...: their JSON, leaf by leaf, into the file leaves.
flatten() {
	: >leaves
	run hpabake info --json "$@"
	./flat <"$tmp/out" >leaves
}

leaf() {
	awk -F= -v name="$1" '$1 == name { print substr($0, length(name) + 2) }' \
		leaves
}

# counts FILE INDEX: of a level, in the order of the manual.
counts() {
	flatten "$1"
	for key in level cluster_size clusters nodes inter_edges intra_edges \
		stored_edges; do
		printf '%s ' "$(leaf "levels.$2.$key")"
	done
}

# The levels

# Four clusters of 4x4 and four borders of 4 cells between them, each crossed
# in the middle: 8 nodes, 4 inter-edges; two nodes in every cluster: 4
# intra-edges.
open_level open.map 8 8
# Two such clusters and one border.
open_level two.map 8 4
# Cut in two halves.
level cut.map ..@.. ..@..
# One corner that may not be cut, except with 8-loose.
level corner.map .@ ..
# A row too short, in line 6; a letter that is none, in line 5; a cut-off one.
level short.map ... .. ...
level letter.map .x.
printf 'type octile\nheight 9\nwidth 2\nmap\n..\n' >cut_off.map
printf 'what is this\n' >nonsense.map

# Help and version

test_help() {
	version=$(sed -n 's/^\.TH .*"\(hpabake [0-9.]*\)".*/\1/p' \
		"$top_srcdir/man/libhpa.3")
	prints "--version prints what the manual says" "$version" --version
	prints "so does -V" "$version" -V
	for arguments in --help -h 'bake --help' 'bake -h' 'info --help' \
		'path --help' 'verify --help' 'bench --help' 'tune --help' \
		'bake -q --help --never-read'; do
		ok "$arguments prints help" helps $arguments
	done
	for verb in bake bench info path tune verify; do
		ok "--help names $verb" mentions $verb --help
	done
	for option in output directory cluster-size levels transitions \
		threshold moves cache-paths fast-queries no-prune compress jobs quiet help; do
		ok "bake --help names --$option" mentions "--$option" bake --help
	done
	ok "info --help names --json" mentions --json info --help
	for option in scen cells draw; do
		ok "path --help names --$option" mentions "--$option" path --help
	done
	for option in scen agent limit repeat plot json; do
		ok "bench --help names --$option" mentions "--$option" bench --help
	done
	for option in scen problems seed budget target-us moves json; do
		ok "tune --help names --$option" mentions "--$option" tune --help
	done
	for option in level scen; do
		ok "verify --help names --$option" \
			mentions "--$option" verify --help
	done
}

# On stdout, beginning with the usage, no line wider than a terminal.
helps() {
	succeeds "$@" && sed -n 1p "$tmp/out" | grep '^usage: hpabake ' &&
		! awk 'length($0) > 80' "$tmp/out" | grep .
}

mentions() {
	what=$1
	shift
	succeeds "$@" && grep -E -e "(^|[ ,])$what( |\$)" "$tmp/out"
}

# Usage

test_usage() {
	refuses "no verb"
	refuses "there is no verb 'frob'" frob
	refuses "there is no verb ''" ''
	refuses "there is no option --frob" --frob
	refuses "there is no option -x" -x
	refuses "--version takes no value" --version=1

	refuses "bake takes one level or more" bake
	refuses "bake takes one of -o FILE and -d DIR" bake open.map
	refuses "bake takes one of -o FILE and -d DIR, not both" \
		bake open.map -o x -d y
	refuses "-o takes the output of one level" \
		bake open.map two.map -o x.hpa
	refuses "'open.map' is a level" bake open.map -o open.map
	mkdir other && cp open.map other
	refuses "'open.map' and 'other/open.map' would both become 'x/open.hpa'" \
		bake open.map other/open.map -d x
	refuses "there is no option --frob" bake open.map -o x --frob
	refuses "there is no option --cluster" bake open.map -o x --cluster=8
	refuses "there is no option -x" bake open.map -o x -qx

	refuses "info takes one file or more" info
	refuses "--json takes no value" info --json=yes open.map
	refuses "path takes FILE X1 Y1 X2 Y2" path
	refuses "path takes FILE X1 Y1 X2 Y2" path open.map 1 2 3
	refuses "path takes FILE X1 Y1 X2 Y2" path open.map 1 2 3 4 5
	refuses "X1 takes a whole number, not 'a'" path open.map a 2 3 4
	refuses "Y1 takes a whole number, not '1.5'" path open.map 1 1.5 3 4
	refuses "X2 takes a whole number, not ''" path open.map 1 2 '' 4
	refuses "Y2 takes a whole number, not '4x'" path open.map 1 2 3 4x
	refuses "path --scen takes one FILE" path open.map 1 2 3 4 --scen x
	refuses "--draw goes with one question" path open.map --scen x --draw
	refuses "--scen takes a FILE, and there is none" path open.map --scen
	refuses "verify takes one file" verify
	refuses "verify takes one file" verify a.hpa b.hpa
	refuses "--level takes a LEVEL, and there is none" verify a.hpa --level
	ok "none of them made the output" [ ! -e x ]
}

# refuses_value OPTION TAKES VALUE...: each value, and none.
refuses_value() {
	option=$1 takes=$2
	shift 2
	for value; do
		refuses "$option takes $takes, not '$value'" \
			bake open.map -o x.hpa "$option=$value"
	done
	refuses "$option takes $takes, and there is none" \
		bake open.map -o x.hpa "$option"
}

test_values() {
	accepts --cluster-size 4
	accepts --cluster-size=32
	refuses_value --cluster-size "a number from 4 to 32" \
		3 33 0 -4 '' x 4x 0x10 1e1 ' 8' +8 18446744073709551624
	accepts --levels 1
	accepts --levels 12 --cluster-size 4
	accepts --levels 10
	refuses_value --levels "a number from 1 to 12" 0 13 -1 two
	# 16 << 9 is 8192, the widest cluster; 16 << 10 is too wide.
	refuses "--levels takes a number from 1 to 10" \
		bake open.map -o x.hpa --levels 11
	accepts --transitions ends
	accepts --transitions spread
	accepts --transitions every:1
	accepts --transitions=every:32
	refuses_value --transitions \
		"ends, spread or every:K with K from 1 to 32" \
		every every: every:0 every:33 every:x every:-1 ends:6 spread:2 \
		end '' frob
	accepts --threshold 1
	accepts --threshold 33 --transitions ends
	refuses_value --threshold "a number from 1 to 33" 0 34 x
	refuses "--threshold goes with --transitions ends only" \
		bake open.map -o x.hpa --threshold 5 --transitions spread
	for rule in 8 8-loose 4; do
		accepts --moves $rule
	done
	refuses_value --moves "8, 8-loose or 4" 6 8-tight loose ''
	for what in none cold all; do
		accepts --compress $what
	done
	refuses_value --compress "none, cold or all" best 9 ''
	accepts -j 0
	accepts -j1024
	accepts --jobs=2
	refuses_value --jobs "a number from 0 to 1024" 1025 -1 all
	refuses "--jobs takes a number from 0 to 1024, not 'q'" \
		bake open.map -o x.hpa -jq
	for size in 1 4096K 64M 2G; do
		accepts --memlimit $size
	done
	refuses_value --memlimit "a number of bytes, or of K, M or G" \
		0 0M -1 x M 1T 1MB 1.5G ' 1' '' 99999999999999999999 \
		999999999999999999G
	accepts --cache-paths
	refuses "--cache-paths takes no value" \
		bake open.map -o x.hpa --cache-paths=1
	accepts --no-prune
	accepts -q
	accepts --quiet
	refuses "--output takes a FILE, not ''" bake open.map -o ''
	refuses "--directory takes a DIR, and there is none" bake open.map -d
	refuses "--agent takes an AGENT, and there is none" \
		bake open.map -o x.hpa --agent
	ok "no refused value left a file" [ ! -e x.hpa ]
}

# Bake

test_bake() {
	run hpabake bake open.map --cluster-size 4 -o open.hpa
	is "the table's header" "$(sed -n 1p "$tmp/out" | xargs)" \
		"level size clusters nodes edges bytes time"
	is "the table's row" "$(sed -n 2p "$tmp/out" | xargs | cut -d' ' -f1-6)" \
		"open.map 8x8 4 8 8 $(wc -c <open.hpa | xargs)"
	is "one level is one row" "$(wc -l <"$tmp/out" | xargs)" 2

	prints "-q prints nothing" "" bake -q two.map -o two.hpa
	prints "--quiet prints nothing" "" bake --quiet two.map --output q.hpa
	ok "-o and --output write the same" cmp two.hpa q.hpa

	run hpabake bake -q --cluster-size=8 -- open.map
	ok "-- ends the options" complained 2 "bake takes one of -o FILE"
	cp open.map ./-odd.map
	ok "options before, between and after, values in four forms" \
		succeeds bake --cluster-size=4 -q -j 1 -d forms -- \
		./two.map -odd.map open.map
	folder_has "-d names files after their levels" forms \
		"-odd.hpa open.hpa two.hpa "
	ok "-oFILE is -o FILE" succeeds bake -qj2 open.map -oclose.hpa \
		--cluster-size 4
	ok "the same options, the same bytes" cmp close.hpa forms/open.hpa
	ok "the same level, the same bytes" cmp close.hpa forms/-odd.hpa

	cp open.map 'a level.of dots.map'
	cp open.map bare
	ok "-d takes names with spaces, several dots and none" \
		succeeds bake -q 'a level.of dots.map' bare -d names
	folder_has "and only replaces the last suffix" names \
		"a level.of dots.hpa bare.hpa "
	ok "a level may come through a pipe" pipes
}

pipes() {
	cat open.map | hpabake bake -q /dev/stdin --cluster-size 4 -o p.hpa &&
		cmp p.hpa open.hpa
}

test_bad_levels() {
	echo old >old.hpa
	ok "a missing level" complains 1 "no-such.map: " \
		bake no-such.map -o old.hpa
	ok "a folder is no level" complains 1 "other: " bake other -o old.hpa
	ok "a short row" complains 3 "short.map:6: " bake short.map -o old.hpa
	ok "an unknown letter" complains 3 "letter.map:5: " \
		bake letter.map -o old.hpa
	ok "a cut-off level" complains 3 "cut_off.map:5: " \
		bake cut_off.map -o old.hpa
	ok "nonsense" complains 3 "nonsense.map:1: " bake nonsense.map -o old.hpa
	: >empty.map
	ok "an empty file" complains 3 "empty.map:1: " bake empty.map -o old.hpa
	cp letter.map 'two
lines.map'
	ok "a name with a newline is told on one line" complains 3 "two" \
		bake 'two
lines.map' -o old.hpa
	ok "a level without a name" complains 1 "'': " bake '' -o old.hpa
	is "none of them touched the old file" "$(cat old.hpa)" old
	ok "without an old file there is none" \
		complains 3 "short.map:6: " bake short.map -d none
	folder_has "after a bad level" none ""

	cp open.map 'two
rows.map'
	run hpabake bake 'two
rows.map' -d rows
	is "a name with a newline has one row of the table" \
		"$(sed -n '2,$s/  .*//p' "$tmp/out")" 'two?rows.map'

	run hpabake bake open.map short.map no-such.map two.map -d some
	is "the highest exit code counts" "$status" 3
	is "a line on each bad level" \
		"$(sed -n '1,2s/^\(hpabake: [^:]*\):.*/\1/p' "$tmp/err" |
			xargs)" "hpabake: short.map hpabake: no-such.map"
	is "and what became of all" "$(sed 1,2d "$tmp/err")" \
		"hpabake: 2 baked, 0 unchanged, 0 skipped, 2 failed: \
short.map, no-such.map"
	is "the table has the good ones" \
		"$(sed 1d "$tmp/out" | cut -d' ' -f1 | xargs)" "open.map two.map"
	folder_has "the good ones are baked" some "open.hpa two.hpa "
}

# Several levels at once

# A batch of levels of several sizes, every fifth of them broken.
make_batch() {
	mkdir batch
	for i in 01 02 03 04 05 06 07 08 09 10 11 12 13 14 15 16 17 18 19 20; do
		case $i in
		?0 | ?5) cp short.map batch/$i.map ;;
		?3) cp "$top_srcdir/data/castle.map" batch/$i.map ;;
		?7) cp "$top_srcdir/data/rooms.map" batch/$i.map ;;
		*) cp two.map batch/$i.map ;;
		esac
	done
}

# bake_batch N: with so many threads into batchN, what it says, without times,
# into batchN.out and batchN.err.
bake_batch() {
	rm -rf "batch$1"
	run hpabake bake -v -j "$1" batch/*.map -d "batch$1"
	sed 's/ *[^ ]* ms$//' "$tmp/out" >"batch$1.out"
	cp "$tmp/err" "batch$1.err"
}

same_batch() {
	cmp "batch$1.out" batch1.out && cmp "batch$1.err" batch1.err &&
		diff -r "batch$1" batch1
}

test_batch() {
	make_batch
	bake_batch 1
	is "broken levels show in the exit code" "$status" 3
	is "and do not keep others from being baked" \
		"$(ls batch1 | wc -l | xargs)" 16
	is "each is told of" "$(grep -c '^hpabake: .*short\|:6: ' batch1.err)" 4
	for jobs in 2 3 16; do
		bake_batch $jobs
		is "$jobs at once: the exit code" "$status" 3
		ok "$jobs at once: all as one by one, in order" same_batch $jobs
	done
	rm -rf batch?* batch
}

# Free and blocked cells without a pattern: many nodes for its size.
make_noise() {
	awk 'BEGIN {
		print "type octile\nheight 600\nwidth 600\nmap"
		for (y = 0; y < 600; y++) {
			row = ""
			for (x = 0; x < 600; x++) {
				s = (s * 69069 + 12345) % 4294967296
				row = row (s / 65536 % 10 < 3 ? "@" : ".")
			}
			print row
		}
	}' >noise.map
}

# What the last message says is needed, in megabytes.
asked_for() {
	sed -n 's/.*takes about \([0-9]*\) MB.*/\1/p' "$tmp/err"
}

needs_more() {
	complained 3 "$1: baking it takes about " && [ "$(asked_for)" -gt "$2" ]
}

test_memlimit() {
	make_noise
	run hpabake bake noise.map -o noise.hpa --memlimit 100K
	ok "the cells alone are too much" needs_more noise.map 1
	by_cells=$(asked_for)
	run hpabake bake noise.map -o noise.hpa --memlimit "${by_cells}M"
	ok "the cells fit, the nodes do not" needs_more noise.map "$by_cells"
	ok "nothing was written" [ ! -e noise.hpa ]
	ok "what is asked for is enough" \
		succeeds bake -q noise.map -o noise.hpa --memlimit \
		"$(asked_for)M"
	ok "the bytes do not depend on it" succeeds bake -q noise.map -o n.hpa
	ok "they are the same" cmp n.hpa noise.hpa
	rm -rf some
	others="2 baked, 0 unchanged, 0 skipped"
	for jobs in 1 2 8; do
		run hpabake bake -j $jobs open.map noise.map two.map -d some \
			--memlimit "${by_cells}M"
		is "-j $jobs: it is among what failed" \
			"$(sed -n '$p' "$tmp/err")" "hpabake: $others, 1 \
failed: noise.map"
		others="0 baked, 0 unchanged, 2 skipped"
		sed -i '$d' "$tmp/err"
		ok "-j $jobs: a level too large for the limit is refused" \
			needs_more noise.map "$by_cells"
		is "-j $jobs: the others are baked" \
			"$(sed 1d "$tmp/out" | cut -d' ' -f1 | xargs)" \
			"open.map two.map"
	done
	rm -f noise.hpa n.hpa
}

# Info, and what options do

test_info() {
	ok "info --json is JSON" flatten open.hpa
	is "file" "$(leaf file)" open.hpa
	is "format" "$(leaf format.major).$(leaf format.minor)" 1.0
	is "bytes" "$(leaf bytes)" "$(wc -c <open.hpa | xargs)"
	is "width, height, free_cells, components" \
		"$(leaf width) $(leaf height) $(leaf free_cells) $(leaf components)" \
		"8 8 64 1"
	is "the options" "$(grep '^options\.' leaves | sort | xargs)" \
		"options.cache_paths=false options.cluster_size=4 \
options.fast_queries=false options.levels=1 options.moves=8 options.prune=true options.threshold=6 \
options.transitions=ends"
	is "three hashes of 16 digits" \
		"$(grep -c -E '^hashes\.(content|source|options)=[0-9a-f]{16}$' \
			leaves)" 3
	ok "there are sections" [ -n "$(leaf sections.0.id)" ]
	is "the stored sections are not larger than the file" \
		"$(awk -F= '/^sections.*stored_bytes/ { n += $2 }
			$1 == "bytes" { m = $2 } END { print (0 < n && n < m) }' \
			leaves)" 1
	is "four clusters" "$(counts open.hpa 0)" "1 4 4 8 4 4 4 "
	run hpabake info open.hpa
	ok "info says the same in words" \
		[ "$(grep -c -E '^ +1 +4x4 +4 +8 +4 +4 +4$' "$tmp/out")" = 1 ]
	hpabake bake -q cut.map -o cut.hpa
	flatten cut.hpa
	is "two halves are two components" \
		"$(leaf components) $(leaf free_cells)" "2 8"
}

test_several_infos() {
	ok "several files are an array" flatten open.hpa two.hpa
	is "in order" "$(leaf 0.file) $(leaf 1.file)" "open.hpa two.hpa"
	flatten open.hpa open.map two.hpa
	ok "a bad one is told on a line" complained 3 "open.map: "
	is "and the others are there" "$(leaf 0.file) $(leaf 1.file)" \
		"open.hpa two.hpa"
	run hpabake info open.hpa no-such.hpa
	ok "a missing one" complained 1 "no-such.hpa: "
	is "the other one is there" "$(sed -n 1p "$tmp/out")" open.hpa
	run hpabake info --json open.map
	is "of one bad file there is no JSON" "$(cat "$tmp/out")" ""
}

# option_is NAME VALUE ARGUMENT...: an option is stored.
option_is() {
	key=$1 value=$2
	shift 2
	bake_to option.hpa open.map "$@"
	flatten option.hpa
	is "$* is stored" "$(leaf "options.$key")" "$value"
}

test_options() {
	option_is cluster_size 16
	option_is cluster_size 32 --cluster-size 32
	option_is levels 3 --levels 3
	option_is levels 12 --levels 12 --cluster-size 4
	option_is threshold 33 --threshold 33
	option_is transitions spread --transitions spread
	is "spread has no number" "$(grep -c -E '\.(threshold|every)=' leaves)" 0
	option_is transitions every --transitions every:7
	option_is every 7 --transitions every:7
	option_is moves 8-loose --moves 8-loose
	option_is moves 4 --moves 4
	option_is cache_paths true --cache-paths
	option_is fast_queries true --fast-queries
	option_is prune false --no-prune
}

# The border of two.map has 4 cells.
test_transitions() {
	bake_to t.hpa two.map --cluster-size 4
	is "below the threshold: the middle" "$(counts t.hpa 0)" "1 4 2 2 1 0 0 "
	bake_to t.hpa two.map --cluster-size 4 --threshold 4
	is "from the threshold on: both ends" "$(counts t.hpa 0)" "1 4 2 4 2 2 2 "
	bake_to t.hpa two.map --cluster-size 4 --transitions spread
	is "spread: the middle" "$(counts t.hpa 0)" "1 4 2 2 1 0 0 "
	bake_to t.hpa two.map --cluster-size 4 --transitions every:2
	is "every second" "$(counts t.hpa 0)" "1 4 2 4 2 2 2 "
	# Four nodes in a line: 6 pairs, of which the 3 neighbours are enough.
	bake_to t.hpa two.map --cluster-size 4 --transitions every:1
	is "every one, pruned" "$(counts t.hpa 0)" "1 4 2 8 4 12 6 "
	bake_to t.hpa two.map --cluster-size 4 --transitions every:1 --no-prune
	is "every one, not pruned" "$(counts t.hpa 0)" "1 4 2 8 4 12 12 "
}

# 16x8: level 1 has 4x2 clusters and 6 + 4 borders, so 20 nodes; 2 in each
# corner, 3 in each other cluster, so 4 + 12 pairs. Level 2 has 2 clusters,
# which meet at two of those borders.
test_levels() {
	open_level wide.map 16 8
	bake_to l.hpa wide.map --cluster-size 4 --levels 2
	is "level 1 of 2" "$(counts l.hpa 0)" "1 4 8 20 10 16 16 "
	is "level 2 of 2" "$(counts l.hpa 1)" "2 8 2 4 2 2 2 "
	is "there is no level 3" "$(counts l.hpa 2)" "       "
	bake_to l.hpa open.map --cluster-size 4 --levels 2
	is "one cluster has no borders" "$(counts l.hpa 1)" "2 8 1 0 0 0 0 "
	for side in 64:1 128:2 512:4; do
		open_level side.map ${side%:*} 1
		bake_to l.hpa side.map
		flatten l.hpa
		is "levels by default, of ${side%:*} cells" \
			"$(leaf options.levels)" ${side#*:}
	done
	open_level big.map 512 512
	bake_to big.hpa big.map
	flatten big.hpa
	is "levels of 512x512, at least 3" "$(leaf options.levels)" 4
	is "each has half as many clusters along a side" \
		"$(grep '^levels\..*\.clusters=' leaves | cut -d= -f2 | xargs)" \
		"1024 256 64 16"
}

test_compress() {
	castle=$top_srcdir/data/castle.map
	for what in none cold all; do
		bake_to $what.hpa "$castle" --cache-paths --compress $what
		flatten $what.hpa
		leaf hashes.content >$what.hash
		grep -E '^sections.*\.(id|codec)=' leaves | cut -d= -f2 |
			xargs -n 2 >$what.codecs
	done
	ok "none: nothing is compressed" [ -z "$(grep zlib none.codecs)" ]
	is "cold: the cached paths are" "$(grep zlib cold.codecs)" "PATH zlib"
	ok "all: more is" [ "$(grep -c zlib all.codecs)" -gt 1 ]
	ok "all is the smallest file" \
		[ "$(wc -c <all.hpa)" -lt "$(wc -c <cold.hpa)" ]
	ok "none is the largest" \
		[ "$(wc -c <none.hpa)" -gt "$(wc -c <cold.hpa)" ]
	ok "the content is the same: none, cold" cmp none.hash cold.hash
	ok "the content is the same: cold, all" cmp cold.hash all.hash
	bake_to no_paths.hpa "$castle"
	ok "all is the default" bake_to default.hpa "$castle" --cache-paths
	ok "to the byte" cmp default.hpa all.hpa
	run hpabake path no_paths.hpa 2 30 49 9 --cells
	cp "$tmp/out" no_paths.path
	for what in none cold all; do
		run hpabake path $what.hpa 2 30 49 9 --cells
		ok "the answers are the same: $what" cmp "$tmp/out" no_paths.path
		ok "verify $what" succeeds verify $what.hpa --level "$castle"
	done
}

# Path

test_path() {
	hpabake bake -q two.map --cluster-size 4 -o two.hpa
	prints "straight on, through the middle of the border" \
		"0	ok	7.000000	8" path two.hpa 0 1 7 1
	prints "its cells" \
		"0	ok	7.000000	8	0,1 1,1 2,1 3,1 4,1 5,1 6,1 7,1" \
		path two.hpa --cells 0 1 7 1
	prints "in what standard input brings" "0	ok	7.000000	8" \
		path - 0 1 7 1 <two.hpa
	prints "diagonally" "0	ok	4.242641	4	0,0 1,1 2,2 3,3" \
		path --cells two.hpa 0 0 3 3
	prints "nowhere to go" "0	ok	0.000000	1	5,2" \
		path two.hpa 5 2 5 2 --cells
	prints "no path" "0	no-path	0.000000	0" path cut.hpa 0 0 4 1
	prints "no cells of it" "0	no-path	0.000000	0" \
		path cut.hpa 0 0 4 1 --cells
	prints "a blocked goal" "0	blocked	0.000000	0" path cut.hpa 0 0 2 1
	prints "a blocked start" "0	blocked	0.000000	0" path cut.hpa 2 0 0 1
	prints "a goal outside" "0	outside	0.000000	0" path cut.hpa 0 0 5 0
	prints "a goal below" "0	outside	0.000000	0" path cut.hpa 0 0 0 2
	prints "a start outside" "0	outside	0.000000	0" path cut.hpa 9 9 0 0
	prints "a negative one" "0	outside	0.000000	0" path cut.hpa -1 0 0 0
	prints "after --" "0	outside	0.000000	0" path cut.hpa -- 0 0 0 -1
	# 65536 and 131072 are 0 in 16 bits.
	prints "one far outside" "0	outside	0.000000	0" \
		path cut.hpa 65536 131072 0 0
	ok "a missing file" complains 1 "no-such.hpa: " path no-such.hpa 0 0 1 1
	ok "a level is no baked file" complains 3 "cut.map: " \
		path cut.map 0 0 1 1
}

# From the one corner of 2x2 cells to the other, around a wall.
test_moves() {
	hpabake bake -q corner.map -o corner.hpa
	prints "8: no corner is cut" "0	ok	2.000000	3	0,0 0,1 1,1" \
		path --cells corner.hpa 0 0 1 1
	hpabake bake -q corner.map -o corner.hpa --moves 4
	prints "4: nor is it here" "0	ok	2.000000	3	0,0 0,1 1,1" \
		path --cells corner.hpa 0 0 1 1
	hpabake bake -q corner.map -o corner.hpa --moves 8-loose
	prints "8-loose: it is" "0	ok	1.414214	2	0,0 1,1" \
		path --cells corner.hpa 0 0 1 1
	hpabake bake -q two.map -o four.hpa --moves 4
	prints "4: never diagonally" "0	ok	6.000000	7" \
		path four.hpa 0 0 3 3
	level cross.map .@ @.
	hpabake bake -q cross.map -o cross.hpa --moves 8-loose
	prints "8-loose: not between two walls" "0	no-path	0.000000	0" \
		path cross.hpa 0 0 1 1
	echo '0 0  1 1  0.5' >cross.links
	hpabake bake -q cross.map -o cross.hpa --moves 8-loose \
		--links cross.links
	prints "but over a link, which has its own length" \
		"0	ok	0.500000	2" path cross.hpa 0 0 1 1
}

test_scen() {
	scen cut.scen cut.map 5 2 \
		"0	0	1	1" "0	0	4	1" "0	0	2	1" "0	0	0	-7"
	prints "path --scen" "0	ok	1.414214	2
1	no-path	0.000000	0
2	blocked	0.000000	0
3	outside	0.000000	0" path cut.hpa --scen cut.scen
	prints "path --scen --cells" "0	ok	1.414214	2	0,0 1,1
1	no-path	0.000000	0
2	blocked	0.000000	0
3	outside	0.000000	0" path --cells --scen=cut.scen cut.hpa
	scen none.scen cut.map 5 2
	prints "no problems" "" path cut.hpa --scen none.scen
	scen other.scen cut.map 6 2 "0	0	1	1"
	ok "problems of a level of another size" complains 3 "other.scen: " \
		path cut.hpa --scen other.scen
	printf 'version 1\n0 cut.map 5 2 0 0 1\n' >bad.scen
	ok "a bad problem" complains 3 "bad.scen:2: " path cut.hpa --scen bad.scen
	ok "not a problem file" complains 3 "cut.map:1: " \
		path cut.hpa --scen cut.map
	ok "a missing one" complains 1 "no-such.scen: " \
		path cut.hpa --scen no-such.scen
}

# The fields of an answer agree with its cells: their number, the first, the
# last, and the steps, which are counted here.
test_cells() {
	run hpabake path no_paths.hpa 2 30 49 9 --cells
	is "the cells are the path" "$(awk -F'\t' '{
		n = split($5, cells, " ")
		for (i = 1; i <= n; i++) {
			split(cells[i], at, ",")
			dx = at[1] - x; dy = at[2] - y; x = at[1]; y = at[2]
			if (i > 1 && (dx * dx > 1 || dy * dy > 1 || !(dx || dy)))
				print "no step to", cells[i]
			if (i > 1)
				length_ += dx && dy ? sqrt(2) : 1
		}
		print $2, n == $4, sprintf("%.6f", length_) == $3, cells[1],
			cells[n]
	}' "$tmp/out")" "ok 1 1 2,30 49,9"
}

# draw VARIABLES...: with nothing else said about the locale.
draw() {
	run env -u LC_ALL -u LC_CTYPE -u LANG "$@" "$HPABAKE" path corner.hpa \
		0 0 1 1 --draw
	sed 1d "$tmp/out"
}

test_draw() {
	hpabake bake -q corner.map -o corner.hpa
	picture="+----+
| S##|
| o G|
+----+
S start, G goal, o path, # wall"
	is "a picture in ASCII" "$(draw LC_ALL=C)" "$picture"
	is "also without a locale" "$(draw TERM=xterm)" "$picture"
	is "LC_ALL counts first" \
		"$(draw LANG=C.UTF-8 LC_CTYPE=C.UTF-8 LC_ALL=C)" "$picture"
	picture="┌────┐
│ S██│
│ • G│
└────┘
S start, G goal, • path, █ wall"
	is "in UTF-8" "$(draw LC_ALL=C.UTF-8)" "$picture"
	is "by LANG, and spelt otherwise" "$(draw LANG=de_DE.utf8)" "$picture"
	is "not by LC_ALL when it is empty" \
		"$(draw LC_ALL= LC_CTYPE=C.UTF-8 LANG=C)" "$picture"
	run hpabake path corner.hpa 0 0 1 1 --draw
	is "the answer comes first" "$(sed -n 1p "$tmp/out")" "0	ok	2.000000	3"
	run hpabake path cut.hpa 0 0 9 9 --draw
	is "without a path there is a picture too" \
		"$(sed -n '1p;2p' "$tmp/out")" "0	outside	0.000000	0
+----------+"
	run hpabake path big.hpa 0 0 511 511 --draw
	is "a wide level is scaled down to 100 columns" \
		"$(awk '/^\+/ && length($0) > 50 && length($0) <= 100' \
			"$tmp/out" | wc -l | xargs)" 2
	ok "a picture in a file has no colours" no_escapes
}

no_escapes() {
	! LC_ALL=C grep "$(printf '\033')" "$tmp/out"
}

# Verify

test_verify() {
	ok "verify a good file" succeeds verify open.hpa
	ok "with its level" succeeds verify open.hpa --level open.map
	ok "with problems" succeeds verify cut.hpa --level cut.map \
		--scen cut.scen
	is "and counts them" "$(sed -n '/problems/,/wrong/p' "$tmp/out" | xargs)" \
		"problems 4 reachable 1 unreachable 1 blocked 1 outside 1 wrong 0"
	is "the path in one cluster is a shortest one" \
		"$(grep '^excess' "$tmp/out" | xargs)" \
		"excess mean 0.0000 % excess max 0.0000 %"
	ok "with problems only" succeeds verify cut.hpa --scen cut.scen
	test_verify_agents
	test_verify_links

	level moved.map ..@.. .@...
	ok "a level that differs in cells" complains 4 "cut.hpa: " \
		verify cut.hpa --level moved.map
	ok "a level of another size" complains 4 "cut.hpa: " \
		verify cut.hpa --level open.map
	ok "a missing file" complains 1 "no-such.hpa: " verify no-such.hpa
	ok "a missing level" complains 1 "no-such.map: " \
		verify cut.hpa --level no-such.map
	ok "a bad level" complains 3 "short.map:6: " \
		verify cut.hpa --level short.map
	ok "missing problems" complains 1 "no-such.scen: " \
		verify cut.hpa --scen no-such.scen
	ok "bad problems" complains 3 "bad.scen:2: " \
		verify cut.hpa --scen bad.scen
	ok "problems of another level" complains 3 "other.scen: " \
		verify cut.hpa --scen other.scen
}

# agrees FILE ARGUMENT...: verify finds no answer wrong, with the level, which is
# read like that, and without.
agrees() {
	file=$1
	shift
	ok "$file: with its level" succeeds verify "$file" $reading "$@"
	ok "$file: without it" succeeds verify "$file" "$@"
}

# Ground that is open to one agent is a wall to another.
test_verify_agents() {
	world=world.map
	reading="--level $world --terrain world.terrain"
	level $world ..SS.. ..SS.. ..SS.. ..@S.. ......
	printf 'S swamp 3\n' >world.terrain
	hpabake bake -q $world --terrain world.terrain --agent man \
		--agent cart:size=2 --agent deer:terrain=ground -o world.hpa
	{
		echo version 1
		echo "0 $world 6 5 0 0 4 0 0"
		echo "0 $world 6 5 0 0 2 2 0"
		echo "0 $world 6 5 0 0 5 4 0"
	} >world.scen
	for agent in man cart deer; do
		agrees world.hpa --agent $agent --scen world.scen
	done
}

# A link that leads along a step which costs less, and is no transition.
test_verify_links() {
	world=links.map
	reading="--level $world"
	level $world ........ ........ ........ ........ ........
	echo '3 0  4 0  1.5' >links.txt
	hpabake bake -q $world --links links.txt --cluster-size 4 -o links.hpa
	{
		echo version 1
		echo "0 $world 8 5 3 0 4 0 0"
		echo "0 $world 8 5 2 0 5 0 0"
		echo "0 $world 8 5 1 1 7 2 0"
	} >links.scen
	agrees links.hpa --scen links.scen
}

# flip OFFSET: bad.hpa is open.hpa with another byte there.
flip() {
	cp open.hpa bad.hpa
	byte=$(od -An -tu1 -j "$1" -N 1 open.hpa | xargs)
	printf "\\$(printf %o $(((byte + 1) % 256)))" |
		dd of=bad.hpa bs=1 seek="$1" conv=notrunc 2>/dev/null
}

# bad.hpa is refused by all verbs that take it.
is_refused() {
	! cmp -s open.hpa bad.hpa || return 1
	complains 3 "bad.hpa: " info bad.hpa && [ ! -s "$tmp/out" ] &&
		complains 3 "bad.hpa: " path bad.hpa 0 0 1 1 &&
		[ ! -s "$tmp/out" ] &&
		complains 3 "bad.hpa: " verify bad.hpa && [ ! -s "$tmp/out" ]
}

test_corrupt() {
	size=$(wc -c <open.hpa | xargs)
	for offset in 0 33 $((size / 2)) $((size - 1)); do
		flip $offset
		ok "byte $offset is another one" is_refused
	done
	head -c $((size - 1)) open.hpa >bad.hpa
	ok "the last byte is missing" is_refused
	head -c $((size / 2)) open.hpa >bad.hpa
	ok "half of it is missing" is_refused
	{ cat open.hpa && echo; } >bad.hpa
	ok "there is a byte too many" is_refused
	: >bad.hpa
	ok "it is empty" is_refused
	cp open.map bad.hpa
	ok "it is a level" is_refused
}

# Where output goes

test_places() {
	: >file
	ok "a folder that is a file" complains 1 "file/x.hpa: " \
		bake open.map -o file/x.hpa
	ok "-d that is a file" complains 1 "file/open.hpa: " \
		bake open.map -d file
	ok "a folder that is missing" complains 1 "no/x.hpa: " \
		bake open.map -o no/x.hpa
	ok "-d below one that is missing" complains 1 "no/where: " \
		bake open.map -d no/where
	ok "a folder is no output" complains 1 "other: " bake open.map -o other
	mkdir locked && chmod 555 locked
	if [ ! -w locked ]; then
		ok "a folder that is read-only" complains 1 "locked/x.hpa: " \
			bake open.map -o locked/x.hpa
	elif as_nobody test -x "$HPABAKE" -a -r open.map; then
		run as_nobody "$HPABAKE" bake open.map -o locked/x.hpa
		ok "a folder that is read-only" complained 1 "locked/x.hpa: "
	else
		skip "a folder that is read-only" "only root gets this far"
	fi
	ln -s real.hpa link.hpa
	echo old >real.hpa
	bake_to link.hpa open.map --cluster-size 4
	ok "what a link leads to is replaced" cmp real.hpa open.hpa
	ok "the link is not" [ -h link.hpa ]
	mkdir links
	ln -s ../other links/folder
	ln -s second.hpa other/first.hpa
	ln -s "$PWD/links/third.hpa" other/second.hpa
	bake_to links/folder/first.hpa open.map --cluster-size 4
	ok "what links lead to is made" cmp links/third.hpa open.hpa
	ok "they stay" [ -h other/first.hpa -a -h other/second.hpa ]
	ln -s ring.hpa ring.hpa
	ok "a ring of links" complains 1 "ring.hpa: " \
		bake open.map -o ring.hpa
	ok "it stays" [ -h ring.hpa ]
	touch -t 200001010000 same.time
	cp open.hpa same.hpa && touch -r same.time same.hpa
	bake_to same.hpa open.map --cluster-size 4 --force
	ok "a file with the right bytes is not touched" \
		[ -z "$(find same.hpa -newer same.time)" ]
	bake_to same.hpa open.map --cluster-size 8
	ok "one with others is" [ -n "$(find same.hpa -newer same.time)" ]
	(umask 027 && bake_to mode.hpa open.map)
	is "the umask is obeyed" "$(ls -l mode.hpa | cut -c1-10)" -rw-r-----
	chmod 604 mode.hpa
	bake_to mode.hpa open.map --cluster-size 8
	is "the mode is kept" "$(ls -l mode.hpa | cut -c1-10)" -rw----r--
}

# full ARGUMENT...: stdout is a full disk, and then it is closed.
full() {
	status=0
	hpabake "$@" >/dev/full 2>"$tmp/err" || status=$?
	ok "stdout is full: $*" complained 1 "standard output: "
	status=0
	hpabake "$@" >&- 2>"$tmp/err" || status=$?
	ok "stdout is closed: $*" complained 1 "standard output: "
}

test_stdout() {
	if ! [ -c /dev/full ]; then
		skip "stdout is full" "there is no /dev/full"
		return
	fi
	full --help
	full --version
	full bake --help
	full bake open.map -o full.hpa --cluster-size 4
	ok "the file is written all the same" cmp full.hpa open.hpa
	full info open.hpa
	full info --json open.hpa
	full path open.hpa 0 0 1 1
	full path corner.hpa 0 0 1 1 --draw
	full path cut.hpa --scen cut.scen
	full verify open.hpa --level open.map
	ok "the output is full" complains 1 "/dev/full: " \
		bake open.map -o /dev/full
}

# A bake that fails or is killed while it writes

build_fsync() {
	cat >fsync.c <<'END'
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

/* Whoever runs the tests may ignore these, and that is inherited. */
__attribute__((constructor)) static void
heed_signals(void)
{
	signal(SIGHUP, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
}

/* Say that we are here; then fail, or wait for a signal, for a minute. */
int
fsync(int fd)
{
	int seconds = 60;

	(void)fd;
	close(open("reached", O_WRONLY | O_CREAT, 0666));
	while (getenv("FSYNC_WAITS") && seconds-- > 0)
		sleep(1);
	errno = EIO;
	return -1;
}
END
	$CC $CFLAGS -fPIC -shared fsync.c -o fsync.so
}

# A bake over vault/open.hpa with that fsync(). The sanitizers' library minds
# another one before it unless it is told not to. It replaces the shell that
# it is called in, so that $! is the program.
bake_with_fsync() {
	LD_PRELOAD=$PWD/fsync.so
	ASAN_OPTIONS=${ASAN_OPTIONS-}:verify_asan_link_order=0
	export LD_PRELOAD ASAN_OPTIONS
	[ -z "${several-}" ] ||
		exec "$HPABAKE" bake -q -j 4 levels/*.map -d vault
	exec "$HPABAKE" bake -q two.map -o vault/open.hpa
}

wait_until_reached() {
	tries=0
	while [ ! -e reached ] && [ $((tries += 1)) -lt 300 ]; do
		sleep 0.1
	done
	[ -e reached ]
}

# killed SIGNAL: in the middle of writing; $status is the exit code.
killed() {
	rm -f reached
	(
		FSYNC_WAITS=1
		export FSYNC_WAITS
		bake_with_fsync
	) &
	ok "$1: it comes to writing" wait_until_reached
	kill -s "$1" $!
	status=0
	wait $! 2>/dev/null || status=$?
	ok "$1: the signal ends it" [ "$status" -gt 128 ]
	ok "$1: the old file is whole" cmp vault/open.hpa open.hpa
}

test_killed() {
	mkdir vault && cp open.hpa vault
	ok "an fsync of our own" build_fsync
	status=0
	(bake_with_fsync) 2>"$tmp/err" || status=$?
	ok "the disk fails" complained 1 "vault/open.hpa: "
	ok "that was our fsync" [ -e reached ]
	folder_has "no litter after that" vault "open.hpa "
	ok "the old file is whole after that" cmp vault/open.hpa open.hpa
	for signal in TERM HUP INT; do
		killed $signal
		folder_has "$signal: no litter" vault "open.hpa "
	done
	killed KILL
	rm -rf vault
}

# Four files at once are being written, or about to be.
test_several_killed() {
	mkdir vault levels
	for name in a b c d; do
		cp two.map levels/$name.map
	done
	rm -f reached
	(
		FSYNC_WAITS=1
		export FSYNC_WAITS
		several=yes
		bake_with_fsync
	) &
	ok "several: it comes to writing" wait_until_reached
	kill -s TERM $!
	status=0
	wait $! 2>/dev/null || status=$?
	ok "several: the signal ends it" [ "$status" -gt 128 ]
	folder_has "several: no litter" vault ""
	rm -rf vault levels
}

# No more than 1024 bytes to a file; fewer are needed for the message.
test_limit() {
	mkdir vault && cp open.hpa vault
	status=0
	(
		ulimit -f 1
		bake_to vault/open.hpa "$castle"
	) 2>"$tmp/err" || status=$?
	ok "a file over the limit" complained 1 "vault/open.hpa: "
	folder_has "no litter after that" vault "open.hpa "
	ok "the old file is whole after that" cmp vault/open.hpa open.hpa
}

ok "a reader of JSON, from jansson" build_json_reader
test_help
test_usage
test_values
test_bake
test_bad_levels
test_batch
test_memlimit
test_info
test_several_infos
test_options
test_transitions
test_levels
test_compress
test_path
test_moves
test_scen
test_cells
test_draw
test_verify
test_corrupt
test_places
test_stdout
test_killed
test_several_killed
test_limit
finish
