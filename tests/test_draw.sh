# test_draw.sh: hpabake draw: the picture shows what is in the file.
#
# Pictures are read by draw_oracle.py, which needs nothing of hpabake to decode
# PNG and SVG, and compared with the level and with what other verbs say. That
# they are nice to look at can't be tested.
. "$srcdir/tests/tap.sh"

LC_ALL=C
export LC_ALL
if ! command -v python3 >"$tmp/out"; then
	skip "hpabake draw" "python3 is missing: apt-get install python3"
	finish
fi
mkdir "$tmp/work" && cd "$tmp/work" || exit 1

hpabake() {
	"$HPABAKE" "$@"
}

if ! hpabake bake -q "$top_srcdir/data/one_cell.map" -o one.hpa ||
	! hpabake draw one.hpa -o one.png 2>"$tmp/err"; then
	is "without libpng PNG is refused, and why is told" \
		"$(cat "$tmp/err")" \
		"hpabake: one.png: this hpabake was built without libpng and can't write PNG; an .svg needs none"
	skip "the pictures" "this hpabake was built without libpng"
	finish
fi

look() {
	HPABAKE=$HPABAKE python3 "$top_srcdir/tests/draw_oracle.py" "$@"
}

refuses() {
	text=$1
	shift
	run hpabake draw "$@"
	is "usage: draw $*" "$status $(cat "$tmp/out" "$tmp/err")" \
		"2 hpabake: $text; see 'hpabake draw --help'"
}

# fails CODE TEXT ARGUMENT...: and leaves no picture behind.
fails() {
	code=$1 text=$2
	shift 2
	rm -f out.png
	run hpabake draw "$@"
	is "draw $*" "$status $(cat "$tmp/out" "$tmp/err")" \
		"$code hpabake: $text"
	ok "there is no picture then" test ! -e out.png
}

test_pictures() {
	for name in castle cave corridor islands maze one_cell rooms; do
		level=$top_srcdir/data/$name.map
		hpabake bake -q --cluster-size 8 --levels 3 "$level" \
			-o $name.hpa
		ok "$name: cells" look cells "$level" $name.hpa
	done
	for name in castle islands one_cell rooms; do
		ok "$name: nodes and edges of each level" look graph $name.hpa
	done
	hpabake bake -q --compress all "$top_srcdir/data/castle.map" -o all.hpa
	ok "a compressed file" look graph all.hpa
	ok "one path" look paths castle.hpa 2,30,49,9
	ok "paths that cross" look paths cave.hpa 10,53,84,6 14,60,89,11
	ok "a path of one cell" look paths castle.hpa 2,30,2,30
	ok "the heat of clusters" look heat cave.hpa \
		"$top_srcdir/data/cave.scen"
}

# What the README and the manual call a default is one.
same_picture() {
	name=$1
	shift
	hpabake draw castle.hpa -o a.png --path 2,30,49,9 &&
		hpabake draw castle.hpa -o b.png --path 2,30,49,9 "$@"
	ok "defaults: $name" look same a.png b.png
}

size_of() {
	python3 -c "
import sys
data = open('$1', 'rb').read()
print(*(int.from_bytes(data[i:i + 4], 'big') for i in (16, 20)))"
}

test_options() {
	same_picture "the scale" --scale 24
	same_picture "the level" --level 1
	same_picture "the layers" --layers all
	same_picture "the same in other words" \
		--layers=-nodes,-edges,+nodes,+edges --level=1
	same_picture "smoothing" --smooth shortcuts
	hpabake draw castle.hpa -o a.png --layers nodes --scale 5
	is "without a legend the level is all there is" "$(size_of a.png)" \
		"320 160"
	hpabake draw castle.hpa -o b.PNG --layers=nodes --scale=5
	ok "a suffix may be in capitals" look same a.png b.PNG
	hpabake draw one_cell.hpa -o c.png
	is "a tiny level has room for its legend" \
		"$(size_of c.png | cut -d ' ' -f 1)" 520
}

# A file with agents, terrain, a link, and a path that takes it.
test_agents() {
	cp "$top_srcdir"/data/keep.png "$top_srcdir"/data/keep.terrain .
	echo '5 2  28 13  4  one-way  tunnel' >links
	hpabake bake -q keep.png --terrain keep.terrain --links links \
		--agent knight --agent cart:size=2,terrain=ground+bridge \
		-o keep.hpa
	hpabake draw keep.hpa -o keep.svg --path 5,2,29,13
	for text in 'river, factor 4' link 'path of length 5.0' \
		'32 x 16 cells, clusters of 16 x 16 (level 1 of 1), agent knight'; do
		ok "the legend says: $text" grep -q ">$text</text>" keep.svg
	done
	hpabake draw keep.hpa -o cart.svg --agent cart
	for text in 'closed to cart' \
		'smaller components (5 in all)'; do
		ok "the legend says: $text" grep -q ">$text</text>" cart.svg
	done
	ok "no path is told, and drawn without a line" sh -c "
		'$HPABAKE' draw keep.hpa -o none.svg --path 0,0,5,2 &&
			grep -q '>no path</text>' none.svg"
}

test_text() {
	name='a<b>&"c'\''.hpa'
	cp castle.hpa "$name"
	hpabake draw "$name" -o text.svg
	ok "a name with what XML reserves" look text "$name" text.svg
	name=$(printf 'gr\303\274n.hpa')
	cp castle.hpa "$name"
	hpabake draw "$name" -o text.svg
	ok "a name in UTF-8" look text "$name" text.svg
	cp castle.hpa "$(printf 'x\377\033\302.hpa')"
	hpabake draw "$(printf 'x\377\033\302.hpa')" -o text.svg
	ok "a name with other bytes" look text 'x???.hpa' text.svg
	hpabake draw "$(printf 'x\377\033\302.hpa')" -o text.png
	ok "and in PNG" look same text.png text.png
}

test_scen() {
	hpabake draw cave.hpa -o web.svg --scen "$top_srcdir/data/cave.scen"
	ok "all paths of a .scen" grep -q '>200 paths</text>' web.svg
	is "each is a line of its own" \
		"$(grep -c 'stroke="#d9480f" stroke-opacity' web.svg)" 200
	fails 3 "$top_srcdir/data/cave.scen: problem 0 is for a level of 120 x 80 cells, this one has 64 x 32" \
		castle.hpa -o out.png --scen "$top_srcdir/data/cave.scen"
	printf 'version 1\n0 castle.map 64 32 2 30 64 9 0\n' >outside.scen
	fails 3 "outside.scen: problem 0 lies outside of the level" \
		castle.hpa -o out.png --heat outside.scen
	fails 1 "no.scen: No such file or directory" castle.hpa -o out.png \
		--heat no.scen
}

test_usage() {
	names="terrain, components, borders, entrances, edges, nodes, links, paths, legend and all, with commas between them and + or - before them"
	refuses "draw takes one baked FILE, and there are 0"
	refuses "draw takes one baked FILE, and there are 2" a b
	refuses "draw needs -o FILE, a name that ends in .png or .svg" a
	refuses "-o takes a name that ends in .png or .svg, not 'a.jpg'" \
		a -o a.jpg
	refuses "-o takes a name that ends in .png or .svg, not '.png'" a -o .png
	refuses "--layers takes names of $names, not 'node'" a -o a.png \
		--layers edges,node
	refuses "--layers takes names of $names, not '+'" a -o a.png --layers +
	refuses "--layers takes names of $names, not ''" a -o a.png \
		--layers nodes,,edges
	refuses "--scale takes a number from 1 to 64, not '65'" a -o a.png \
		--scale 65
	refuses "--level takes a number from 1 to 12, not '0'" a -o a.png \
		--level 0
	for path in 1,2,3 1,2,3,4,5 1,2,3,-4 1,2,3,4x 1,2,3,99999999 ,,, 1,,2,3,4; do
		refuses "--path takes two cells as X1,Y1,X2,Y2, not '$path'" \
			castle.hpa -o out.png --path=$path
	done
	refuses "--path 1,2,64,4: the level has only 64 x 32 cells, from 0,0 on" \
		castle.hpa -o out.png --path 1,2,64,4
	refuses "castle.hpa: it has no level 4; --level takes a number from 1 to 3" \
		castle.hpa -o out.png --level 4
	refuses "castle.hpa: it has no agent 'ogre', it has none at all" \
		castle.hpa -o out.png --agent ogre
	fails 3 "broken.hpa: not a baked level: it does not begin with the magic bytes" \
		"$(echo nonsense >broken.hpa; echo broken.hpa)" -o out.png
	fails 1 "no.hpa: No such file or directory" no.hpa -o out.png
	run hpabake draw castle.hpa -o no/folder.png
	is "where there is no folder" "$status" 1
	awk 'BEGIN {
		print "type octile\nheight 1\nwidth 2000\nmap"
		for (i = 0; i < 2000; i++)
			printf "."
		print ""
	}' >wide.map
	hpabake bake -q wide.map -o wide.hpa
	refuses "--scale 64 makes a picture of 128000 x 64 pixels, and 65535 is the most" \
		wide.hpa -o out.png --scale 64
}

# 512 cells at scale 16: 8192 pixels a side, and no more memory than some rows.
test_large() {
	awk 'BEGIN {
		print "type octile\nheight 512\nwidth 512\nmap"
		for (y = 0; y < 512; y++) {
			row = ""
			for (x = 0; x < 512; x++)
				row = row ((x * 7 + y * 13) % 61 < 9 ? "@" : ".")
			print row
		}
	}' >large.map
	hpabake bake -q large.map -o large.hpa
	run hpabake draw large.hpa -o large.png --scale 16 \
		--layers borders,nodes,edges,entrances
	is "a large picture" "$status $(size_of large.png)" "0 8192 8192"
}

# The command prints nothing, wherever it is run.
test_terminal() {
	rm -f out.png a.png
	run python3 "$top_srcdir/tests/terminal.py" "$HPABAKE" draw castle.hpa \
		-o out.png
	is "on a terminal" "$status $(cat "$tmp/out" "$tmp/err")" "0 "
	hpabake draw castle.hpa -o a.png | cat >"$tmp/out"
	is "in a pipe" "$(cat "$tmp/out")" ""
	ok "the picture is the same" cmp out.png a.png
	ok "it is replaced as a whole" sh -c "
		! '$HPABAKE' draw broken.hpa -o a.png 2>err && cmp out.png a.png"
}

test_pictures
test_options
test_agents
test_text
test_scen
test_usage
test_large
test_terminal
finish
