# test_diff.sh: hpabake diff: what grew, why, and what changed in the level.
#
# What a file holds is taken from `hpabake info`, whose JSON is read by python.
# What changed in a level is looked up cell by cell and pair by pair by
# diff_oracle.py, on random levels; HPA_SEED and HPA_ROUNDS say which and how
# many.
. "$srcdir/tests/tap.sh"

LC_ALL=C
export LC_ALL
unset NO_COLOR
if ! command -v python3 >"$tmp/out"; then
	skip "hpabake diff" "python3 is missing: apt-get install python3"
	finish
fi
mkdir "$tmp/work" && cd "$tmp/work" || exit 1

# wrong_usage TEXT ARGUMENT...
wrong_usage() {
	text=$1
	shift
	refuses "$text; see 'hpabake diff --help'" diff "$@"
}

# said NAME TEXT: the last run's output has this line.
said() {
	ok "$1" grep -q -x -F -e "$2" "$tmp/out"
}

# json EXPRESSION ARGUMENT...: of what diff --json prints, as `diff`.
json() {
	expression=$1
	shift
	hpabake diff --json "$@" >json.out 2>json.err
	python3 -c "
import json
diff = json.load(open('json.out'))
print($expression)"
}

bake_folders() {
	mkdir old new old/deep new/deep
	hpabake bake -q --compress none --cluster-size 10 "$top_srcdir"/data/*.map -d old &&
		hpabake bake -q --compress none "$top_srcdir"/data/*.map -d new &&
		mv old/maze.hpa old/deep && mv new/maze.hpa new/deep &&
		cp new/castle.hpa new/alone.hpa &&
		cp old/cave.hpa old/deep/gone.hpa
}

# Every number of the JSON, from `info`.
check_sums() {
	hpabake diff --json old new >diff.json || return 1
	cat >sums.py <<-'END'
	import json, os, subprocess, sys
	diff = json.load(open("diff.json"))
	def sums(path):
	    info = json.loads(subprocess.run(
	        [os.environ["HPABAKE"], "info", "--json", path],
	        check=True, stdout=subprocess.PIPE).stdout)
	    levels = info["levels"]
	    return {"bytes": os.path.getsize(path),
	            "nodes": levels[0]["nodes"],
	            "edges": levels[0]["inter_edges"]
	                     + sum(level["stored_edges"] for level in levels),
	            "free_cells": info["free_cells"],
	            "bytes_per_free_cell":
	                os.path.getsize(path) / info["free_cells"]}
	def total(rows, side):
	    sum_of = {key: sum(row[side][key] for row in rows if row[side])
	              for key in ("bytes", "nodes", "edges", "free_cells")}
	    sum_of["bytes_per_free_cell"] = sum_of["bytes"] / sum_of["free_cells"]
	    return sum_of
	names = set()
	for side in ("old", "new"):
	    for folder, _, files in os.walk(side):
	        names |= {os.path.relpath(os.path.join(folder, file), side)
	                  for file in files}
	rows = diff["levels"]
	assert {row["name"] for row in rows} == names
	for row in rows:
	    for side in ("old", "new"):
	        path = os.path.join(side, row["name"])
	        assert row[side] == (sums(path) if os.path.exists(path) else None)
	changes = [abs((row["new"] or {"bytes": 0})["bytes"]
	               - (row["old"] or {"bytes": 0})["bytes"]) for row in rows]
	assert changes == sorted(changes, reverse=True)
	both = [row for row in rows if row["old"] and row["new"]]
	assert len(both) == len(rows) - 2
	for side in ("old", "new"):
	    assert diff["total"][side] == total(rows, side)
	    assert diff["on_both_sides"][side] == total(both, side)
	END
	HPABAKE=$HPABAKE python3 sums.py
}

# The text has the same numbers, in the same order, and the Markdown too.
check_dresses() {
	cat >dresses.py <<-'END'
	import json, sys
	diff = json.load(open("diff.json"))
	def show(sums):
	    return [str(sums["bytes"]), str(sums["nodes"]), str(sums["edges"]),
	            "%.2f" % sums["bytes_per_free_cell"]] if sums else ["-"] * 4
	def change(old, new):
	    if old == new: return "="
	    if float(old) == 0: return "+" + new
	    return None
	def fields(name, old, new):
	    shown = list(zip(show(old), show(new)))
	    return name, shown, "gone" if not new else "added" if not old else ""
	expected = [fields(row["name"], row["old"], row["new"])
	            for row in diff["levels"]]
	expected.append(fields("on both sides", *diff["on_both_sides"].values()))
	expected.append(fields("total", *diff["total"].values()))
	lines = open(sys.argv[1]).read().split("\n")[2:2 + len(expected)]
	for line, (name, shown, word) in zip(lines, expected):
	    if sys.argv[2] == "markdown":
	        parts = [part.strip() for part in line.split("|")[1:-1]]
	        assert parts[0] == name.replace("_", "\\_"), line
	        parts = parts[1:]
	    else:
	        assert line.startswith(name), line
	        parts = line[len(name):].replace(" %", "%").split()
	    assert len(parts) == 12, line
	    for i, (old, new) in enumerate(shown):
	        assert parts[3 * i:3 * i + 2] == [old, new], line
	        told = parts[3 * i + 2].replace(" %", "%")
	        if word: assert told == word, line
	        elif change(old, new): assert told == change(old, new), line
	        else: assert told[-1] == "%" and (told[0] == "+") == (
	            float(new) >= float(old)), line
	END
	python3 dresses.py "$1" "$2"
}

test_folders() {
	ok "folders to compare" bake_folders
	ok "JSON has what info says, largest change first, and the sums" \
		check_sums
	run hpabake diff old new
	is "folders that differ are no failure" "$status $(cat "$tmp/err")" "0 "
	cp "$tmp/out" text
	ok "text has the same numbers" check_dresses text text
	said "a reason that is everyone's" "  cluster size 10 -> 16: all 9 levels"
	said "a reason of some" \
		"  levels 2 -> 1: rooms.hpa, deep/maze.hpa, castle.hpa, islands.hpa"
	run hpabake diff --markdown old new
	cp "$tmp/out" markdown
	ok "Markdown has the same numbers" check_dresses markdown markdown
	said "a reason in Markdown" "- cluster size 10 -> 16: all 9 levels"
	run hpabake diff new new
	said "nothing changed" "the same bytes on both sides"
}

test_broken() {
	mkdir broken
	cp new/*.hpa broken
	head -c 100 new/rooms.hpa >broken/rooms.hpa
	echo nonsense >broken/cave.hpa
	run hpabake diff new broken
	cp "$tmp/err" messages
	is "broken files: the exit code" "$status" 3
	is "and one message each, that of info" "$(cat messages)" \
		"$(hpabake info broken/cave.hpa broken/rooms.hpa 2>&1)"
	ok "the others are compared" grep -q '^castle.hpa' "$tmp/out"
	ok "the broken ones are not" sh -c "! grep -q '^rooms.hpa' '$tmp/out'"
	run hpabake diff new/castle.hpa no-such.hpa
	is "a file that is not there" "$status $(cat "$tmp/out" "$tmp/err")" \
		"1 hpabake: no-such.hpa: No such file or directory"
	run hpabake diff new no-such
	is "a folder that is not there" "$status $(cat "$tmp/out" "$tmp/err")" \
		"1 hpabake: no-such: No such file or directory"
	mkdir empty
	wrong_usage "there is no file *.hpa in empty and empty" empty empty
}

# why NAME EXPECTED OLD NEW
why() {
	is "why: $1" "$(json "' & '.join(diff['levels'][0]['why'])" "$3" "$4")" \
		"$2"
}

# The reader of a file does not mind another compressor's name.
rename_compressor() {
	python3 - "$1" "$2" <<-'END'
	import sys, zlib
	data = bytearray(open(sys.argv[1], "rb").read())
	data[64:80] = b"zlib 9.9".ljust(16, b"\0")
	data[84:88] = zlib.crc32(bytes(data[:84])).to_bytes(4, "little")
	open(sys.argv[2], "wb").write(data)
	END
}

test_why() {
	castle=$top_srcdir/data/castle.map
	base="--cluster-size 8 --levels 2"
	hpabake bake -q $base "$castle" -o base.hpa
	bake_as() {
		hpabake bake -q $base "$@" "$castle" -o other.hpa
	}
	why "nothing" "" base.hpa base.hpa
	bake_as --levels 3
	why "levels" "levels 2 -> 3" base.hpa other.hpa
	bake_as --moves 8-loose
	why "moves" "moves 8 -> 8-loose" base.hpa other.hpa
	bake_as --transitions every:3
	why "transitions" "transitions ends, threshold 6 -> every, every 3" \
		base.hpa other.hpa
	bake_as --threshold 4
	why "threshold" "transitions ends, threshold 6 -> ends, threshold 4" \
		base.hpa other.hpa
	bake_as --transitions spread --no-prune
	why "two reasons" \
		"transitions ends, threshold 6 -> spread & pruned yes -> no" \
		base.hpa other.hpa
	bake_as --cache-paths
	why "cached paths" "cached paths no -> yes" base.hpa other.hpa
	bake_as --compress none
	why "compression" "only what is compressed all -> cold" base.hpa other.hpa
	bake_as --compress none --moves 4
	why "compression too" "moves 8 -> 4 & what is compressed all -> cold" \
		base.hpa other.hpa
	bake_as
	rename_compressor other.hpa renamed.hpa
	why "the compressor" "only the compressor $(
		hpabake info other.hpa | sed -n 's/.*compressor //p') -> zlib 9.9" \
		other.hpa renamed.hpa
	bake_as --agent knight --agent cart:size=2
	why "agents" "agent knight was added & agent cart was added" \
		base.hpa other.hpa
	cp other.hpa agents.hpa
	bake_as --agent knight --agent cart:size=3
	why "an agent's size" "agent cart, size 2 -> 3" agents.hpa other.hpa
	echo '2 30 49 9 5' >links
	bake_as --links links
	why "links" "the links differ" base.hpa other.hpa
	sed '8s/^\./@/' "$castle" >closed.map
	hpabake bake -q $base closed.map -o other.hpa
	why "the level" "the level differs" base.hpa other.hpa
	hpabake bake -q $base "$top_srcdir/data/crlf.map" -o other.hpa
	why "its size" "the level's size 64x32 -> 24x12" base.hpa other.hpa
}

# level FILE ROW...
level() {
	file=$1
	shift
	{
		printf 'type octile\nheight %d\nwidth %d\nmap\n' $# ${#1}
		printf '%s\n' "$@"
	} >"$file.map"
	hpabake bake -q "$file.map" -o "$file.hpa"
}

# Counted by hand: two rooms of 9 cells and a door between them. Closing the
# door leaves them; 9 x 9 pairs of cells lose each other.
test_level() {
	level door ...@... ....... ...@...
	level shut ...@... ...@... ...@...
	run hpabake diff door.hpa shut.hpa
	said "a cell that was closed" "  cells closed: 1, in 3,1 to 3,1"
	said "the cluster it is in" "  clusters touched: 1 of 1: 0,0"
	said "pairs of cells" \
		"  pairs of cells that lost their connection: 81"
	said "the region fell apart" \
		"  a region of 18 cells fell into 2: 9 at 0,0, 9 at 4,0"
	said "and nothing was gained" \
		"  pairs of cells that gained a connection: 0"
	run hpabake diff shut.hpa door.hpa
	said "the other way round" \
		"  2 regions grew together, of 18 cells: 9 at 0,0, 9 at 4,0"
	echo '0 0 6 2 1 one-way' >links
	hpabake bake -q shut.map --links links -o linked.hpa
	run hpabake diff shut.hpa linked.hpa
	said "the same cells, and a link that leads one way" \
		"  pairs of cells that gained a connection: 81"
	said "the link is told" "  gone: 0, added: 1"
	run hpabake diff --markdown shut.hpa shut.hpa
	said "nothing changed in the level" \
		"- the same cells and connections"
	hpabake bake -q door.map --agent cat --agent ogre:size=2 -o a.hpa
	hpabake bake -q shut.map --agent ogre:size=2 --agent cat -o b.hpa
	is "each agent for itself, by its name" "$(json "[
		(agent['agent'], agent['closed']['cells'], agent['lost']['pairs'])
		for agent in diff['levels'][0]['level']['agents']]" a.hpa b.hpa)" \
		"[('ogre', 0, 0), ('cat', 1, 81)]"
	mkdir doors shuts
	cp door.hpa doors/a.hpa
	cp shut.hpa shuts/a.hpa
	run hpabake diff doors shuts
	said "a level of a folder, on one line" \
		"  a.hpa: 0 cells opened, 1 closed; 81 pairs of cells lost their connection, 0 gained one"
}

# The river, whose cells are 2 in keep.raw, gets slower.
test_terrain() {
	keep=$top_srcdir/data/keep
	sed 's/river   4/river   6/' "$keep.terrain" >slower.terrain
	hpabake bake -q "$keep.png" --terrain "$keep.terrain" -o river.hpa
	hpabake bake -q "$keep.png" --terrain slower.terrain -o slower.hpa
	why "another factor" "the level differs" river.hpa slower.hpa
	river=$(python3 -c "
cells = [i for i, c in enumerate(open('$keep.raw', 'rb').read()) if c == 2]
xs, ys = [i % 32 for i in cells], [i // 32 for i in cells]
print(f'{len(cells)}, in {min(xs)},{min(ys)} to {max(xs)},{max(ys)}')")
	run hpabake diff river.hpa slower.hpa
	said "cells of another cost" "  cells of another cost: $river"
	said "they are not cut off" \
		"  pairs of cells that lost their connection: 0"
}

test_oracle() {
	seed=${HPA_SEED:-$(awk 'BEGIN { print 20261118 }')}
	diag "HPA_SEED=$seed"
	mkdir random
	ok "random levels, cell by cell and pair by pair" python3 \
		"$top_srcdir/tests/diff_oracle.py" "$HPABAKE" random "$seed" \
		"${HPA_ROUNDS:-40}"
}

# fails_above NAME CODE LIMIT OLD NEW
fails_above() {
	run hpabake diff --fail-above="$3" "$4" "$5"
	is "--fail-above=$3: $1" "$status" "$2"
}

test_limit() {
	small=$(wc -c <new/castle.hpa) large=$(wc -c <old/castle.hpa)
	grown=$((large - small))
	fails_above "it grew by just that" 0 ${grown}B new/castle.hpa \
		old/castle.hpa
	fails_above "it grew by one more" 4 $((grown - 1))B new/castle.hpa \
		old/castle.hpa
	is "the message" "$(cat "$tmp/err")" \
		"hpabake: castle.hpa: grew from $small to $large bytes ($(
		python3 -c "print('%+.3f' % (100 * $grown / $small))"
		) %), more than --fail-above $((grown - 1))B"
	thousandths=$((grown * 100000 / small))
	limit=$(printf '%d.%03d' $((thousandths / 1000)) $((thousandths % 1000)))
	fails_above "a little below" 4 "$limit%" new/castle.hpa old/castle.hpa
	thousandths=$((thousandths + 1))
	limit=$(printf '%d.%03d' $((thousandths / 1000)) $((thousandths % 1000)))
	fails_above "a little above" 0 "$limit%" new/castle.hpa old/castle.hpa
	fails_above "it shrank" 0 0B old/castle.hpa new/castle.hpa
	fails_above "nothing changed" 0 0% new new
	fails_above "levels on one side do not count" 0 0B old new
	fails_above "one of many" 4 0B new old
	is "the total is told too" "$(grep -c 'all levels on both sides: grew' \
		"$tmp/err")" 1
	is "JSON marks it" "$(json "[row['name'] for row in diff['levels']
		if row.get('above_limit')][:2]" --fail-above=100% new old)" \
		"['rooms.hpa', 'deep/maze.hpa']"
	run hpabake diff --fail-above=0B new broken
	is "broken files and the limit: the highest code counts" "$status" 3
}

test_usage() {
	wrong_usage "diff takes OLD and NEW, two files or two folders, and there are 0"
	wrong_usage "diff takes OLD and NEW, two files or two folders, and there is 1" a
	wrong_usage "diff takes two files or two folders; old is a folder, base.hpa is not" \
		old base.hpa
	wrong_usage "diff takes two files or two folders; old is a folder, base.hpa is not" \
		base.hpa old
	wrong_usage "--json and --markdown exclude each other" --json --markdown a b
	wrong_usage "there is no option --grow" --grow a b
	for limit in 1 1KB % B 1.2345% 1.5B -1% 1%% 9999999999999B; do
		wrong_usage "--fail-above takes a percentage such as 1% or 0.5%, or bytes such as 512B, not '$limit'" \
			--fail-above="$limit" a b
	done
}

# A name that could be taken for Markdown, or for the terminal's.
test_names() {
	mkdir odd odder
	name=$(printf 'a|b\033[1m`c.hpa')
	cp new/castle.hpa "odd/$name"
	cp old/castle.hpa "odder/$name"
	run hpabake diff odd odder
	ok "a name is printed without control characters" \
		grep -q '^a|b?\[1m`c.hpa ' "$tmp/out"
	run hpabake diff --markdown odd odder
	ok "and in Markdown without marks" \
		grep -q -F '| a\|b?[1m\`c.hpa |' "$tmp/out"
}

has_colours() {
	grep -q "$(printf '\033')" "$tmp/out"
}

test_terminal() {
	on_terminal "$HPABAKE" diff new old
	cp "$tmp/out" coloured
	is "on a terminal it works" "$status" 0
	ok "what grew is red there" grep -q "$(printf '\033\\[31m *+')" coloured
	on_terminal "$HPABAKE" diff old new
	ok "what shrank is green" grep -q "$(printf '\033\\[32m *-')" "$tmp/out"
	run hpabake diff new old
	ok "there are no colours in a pipe" sh -c '! "$@"' - \
		grep -q "$(printf '\033')" "$tmp/out"
	sed "s/$(printf '\033')\\[[0-9]*m//g" coloured >plain
	is "and nothing else differs" "$(cat "$tmp/out")" "$(cat plain)"
	NO_COLOR=1 on_terminal "$HPABAKE" diff new old
	is "NO_COLOR is honoured" "$(cat "$tmp/out")" "$(cat plain)"
	on_terminal "$HPABAKE" diff --fail-above=1% new old
	is "the gate works there too" "$status" 4
	run hpabake diff new old
	hpabake diff new old >"$tmp/out" 2>"$tmp/err" </dev/null
	ok "a full disk is noticed" sh -c "
		'$HPABAKE' diff new old >/dev/full 2>err; [ \$? = 1 ] &&
			grep -q 'standard output' err"
}

test_folders
test_broken
test_why
test_level
test_terrain
test_oracle
test_limit
test_usage
test_names
test_terminal
finish
