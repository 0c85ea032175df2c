# test_pipeline.sh: hpabake bake as a build engineer meets it.
#
# Folders, lists and standard streams; what is skipped and what is not; options
# from a file; what make and ninja are told; the report; progress; a terminal.
# What is skipped is judged by baking it all the same: --force must then change
# nothing. Names that make has to unquote are unquoted by make.
#
# A terminal is made by terminal.py. The last test walks through the options of
# every verb as --help tells them.
. "$srcdir/tests/tap.sh"

# Threads that wait for others let them have the cores.
LC_ALL=C
TERM=xterm
OMP_WAIT_POLICY=passive
export LC_ALL TERM OMP_WAIT_POLICY
unset NO_COLOR MAKEFLAGS MFLAGS MAKELEVEL
mkdir "$tmp/work" && cd "$tmp/work" || exit 1
data=$top_srcdir/data

# Helpers

# The files below a folder, and the last line of a run.
tree() {
	(cd "$1" && find . -type f -o -type l | sed 's|^\./||' | sort | xargs)
}

summary() {
	sed -n '$p' "$tmp/err"
}

# The first column of the last run's table.
rows() {
	sed 1d "$tmp/out" | cut -d' ' -f1 | xargs
}

# pty LINE: on a terminal.
pty() {
	on_terminal sh -c "$1" </dev/null
}

# lacks_terminal WHAT: and says so.
lacks_terminal() {
	command -v python3 >"$tmp/out" && return 1
	skip "$1" "python3 is missing: apt-get install python3"
}

shows() {
	cat -v "$tmp/out"
	grep -q -F -e "$(printf "$1")" "$tmp/out"
}

lacks() {
	! shows "$1"
}

build_json_reader() {
	$CC $CFLAGS $(pkg-config --cflags jansson) "$srcdir/tests/flat.c" \
		-o flat $(pkg-config --libs jansson)
}

# leaf NAME: of the JSON in the file leaves.
leaf() {
	awk -F= -v name="$1" '$1 == name { print substr($0, length(name) + 2) }' \
		leaves
}

# Folders

make_tree() {
	mkdir -p tree/a/deep tree/b tree/.hidden tree/none
	cp "$data/castle.map" tree/z.map
	cp "$data/crlf.map" tree/a/one.map
	cp "$data/corridor.map" tree/a/deep/one.map
	cp "$data/empty.map" tree/.hidden/no.map
	cp "$data/keep.yaml" "$data/keep.png" "$data/keep.pgm" \
		"$data/keep.raw" tree/b
	cp "$data/village.tmj" tree/b/village.json
	cp "$data/dungeon.ldtk" tree/b
	echo '{"name": "no level"}' >tree/b/package.json
	echo 'name: no level' >tree/b/config.yaml
	echo '{"layerInstances": []}' >tree/b/part.ldtkl
	echo text >tree/b/notes.txt
	ln -s .. tree/a/up
	ln -s ../a tree/b/again
	ln -s ../z.map tree/b/link.map
	mkfifo tree/b/pipe.map
}

# keep.yaml has keep.pgm for its image (data/README); keep.png differs from it
# by its suffix only. again is a; there up would lead back to tree.
test_folders() {
	make_tree
	run hpabake bake tree -d out
	is "a folder is baked" "$status $(summary)" \
		"0 hpabake: 11 baked, 0 unchanged, 0 skipped, 0 failed"
	is "its outputs lie as its levels do" "$(tree out)" \
		"a/deep/one.hpa a/one.hpa b/again/deep/one.hpa \
b/again/one.hpa b/dungeon_Cellar.hpa b/dungeon_Vault.hpa b/keep.png.hpa b/keep.yaml.hpa b/link.hpa \
b/village.hpa z.hpa"
	is "in the order of their names" "$(rows)" \
		"a/deep/one.map a/one.map b/again/deep/one.map \
b/again/one.map b/dungeon.ldtk:Cellar b/dungeon.ldtk:Vault b/keep.png b/keep.yaml b/link.map b/village.json z.map"
	hpabake bake -q "$data/corridor.map" -o corridor.hpa
	ok "they are what single bakes give" cmp corridor.hpa out/a/deep/one.hpa
	run hpabake bake -v tree -d out
	ok "-v tells what is passed by" grep -q -x \
		"hpabake: 5 files with suffixes of levels are none" "$tmp/err"
	ok "a slash behind the name is the same" \
		succeeds bake -q tree/ -d slash
	is "to the name" "$(tree slash)" "$(tree out)"
	mkdir -p first/deep second
	cp "$data/corridor.map" first/deep
	cp "$data/castle.map" "$data/crlf.map" second
	run hpabake bake first second -d both
	is "two folders go into one" "$(tree both)" \
		"castle.hpa crlf.hpa deep/corridor.hpa"
	run hpabake bake --format raw --size 32x16 tree -d raw
	is "--format names the suffixes that are looked for" "$(tree raw)" \
		"b/keep.hpa"
	ok "a folder without levels" complains 3 "tree/none: there is no" \
		bake tree/none -d out
	ok "a folder is not for -o" complains 1 "tree: " bake tree -o x.hpa
	cp tree/z.map same.map
	mkdir same && cp tree/z.map same/same.map
	ok "a file and a folder's with one name" refused 2 \
		"'same.map' and 'same/same.map' would both become" \
		bake same.map same -d out
}

test_broken_in_folders() {
	mkdir -p broken/sub
	cp "$data/crlf.map" broken/good.map
	echo text >broken/bad.map
	echo text >broken/bad.png
	echo text >broken/sub/bad.tmx
	ln -s nowhere.map broken/gone.map
	run hpabake bake broken -d baked
	is "broken levels in a folder are told" "$status $(summary)" \
		"3 hpabake: 1 baked, 0 unchanged, 0 skipped, 4 failed: \
bad.map, bad.png, gone.map, sub/bad.tmx"
	is "on a line each" "$(sed '$d' "$tmp/err" | cut -d: -f1,2 | xargs)" \
		"hpabake: broken/bad.map hpabake: broken/bad.png \
hpabake: broken/gone.map hpabake: broken/sub/bad.tmx"
	is "and keep no other from being baked" "$(tree baked)" good.hpa
	for i in 1 2 3 4 5 6 7 8 9; do
		echo text >broken/more$i.map
	done
	run hpabake bake -q broken -d baked
	is "the last line names eight of them" "$(summary)" \
		"hpabake: 0 baked, 0 unchanged, 1 skipped, 13 failed: \
bad.map, bad.png, gone.map, more1.map, more2.map, more3.map, more4.map, \
more5.map and 5 more"
	is "with -q too, but there is no table" "$(cat "$tmp/out")" ""
	rm -r broken baked
}

# Lists and standard streams

test_lists() {
	cp "$data/castle.map" 'a castle.map'
	cp "$data/crlf.map" '#hash.map'
	printf '# levels\n\n  a castle.map \r\n./#hash.map\nfirst' >levels.txt
	run hpabake bake @levels.txt -d listed
	is "a list names files and folders" "$(tree listed)" \
		"#hash.hpa a castle.hpa deep/corridor.hpa"
	run hpabake bake @- -d piped <levels.txt
	is "so does one from standard input" "$(tree piped)" "$(tree listed)"
	run hpabake bake @levels.txt "$data/cave.map" -d more
	is "beside other levels" "$status $(summary)" \
		"0 hpabake: 4 baked, 0 unchanged, 0 skipped, 0 failed"
	run hpabake bake @no-such.txt "$data/cave.map" -d more
	is "a missing list keeps nothing else from being baked" \
		"$status $(summary)" "1 hpabake: 0 baked, 0 unchanged, \
1 skipped, 1 failed: no-such.txt"
	printf 'a\0b\n' >binary
	ok "a list that is no text" complains 3 "binary: a list has" \
		bake @binary -d more
	printf '# nothing\n' >nothing.txt
	ok "a list without a name" refused 2 "bake takes one level or more" \
		bake @nothing.txt -d more
	echo no-such.map >wrong.txt
	ok "a name in it that is none" complains 1 "no-such.map: " \
		bake @wrong.txt -d more
}

through_pipes() {
	cat "$data/castle.map" | hpabake bake - -o - | cat >piped.hpa &&
		cmp piped.hpa castle.hpa
}

test_streams() {
	hpabake bake -q "$data/castle.map" -o castle.hpa
	ok "from - to -" through_pipes
	run hpabake bake -v "$data/castle.map" -o -
	ok "-o - prints nothing else" cmp "$tmp/out" castle.hpa
	status=0
	hpabake bake - -o x.hpa <"$data/keep.raw" 2>"$tmp/err" || status=$?
	is "bytes that look like nothing need --format" \
		"$status $(cut -c1-45 "$tmp/err")" \
		"3 hpabake: standard input: unknown level format"
	ok "which is obeyed" succeeds bake -q - --format raw --size 32x16 \
		-o x.hpa <"$data/keep.raw"
	head -n 12 "$data/castle.map" >cut_off
	status=0
	hpabake bake - -o x.hpa <cut_off 2>"$tmp/err" || status=$?
	is "a broken level names its line" \
		"$status $(cut -d: -f1-3 "$tmp/err")" \
		"3 hpabake: standard input:12"
	ok "terrain may come from there" succeeds bake -q "$data/keep.png" \
		--terrain - -o x.hpa <"$data/keep.terrain"
	{ echo 'a line of another one' && cat "$data/castle.map"; } >shared
	{ read -r line && hpabake bake -q - -o x.hpa; } <shared
	ok "and begin where someone else has ended" cmp x.hpa castle.hpa
	ok "- has no name for -d" refused 2 "a level from standard input" \
		bake - -d out
	ok "- twice" refused 2 "standard input can be read once" bake - - -d out
	ok "- and @-" refused 2 "standard input can be read once" bake - @- -d out
	cp "$data/castle.map" ./-
	ok "a file of that name is ./-" succeeds bake -q ./- -o dash.hpa
	ok "and baked" cmp dash.hpa castle.hpa
	cp castle.hpa ./-
	ok "it is not what -o - writes" through_pipes
	rm -f ./- x.hpa
}

# What is skipped

# again NAME OPTION...: what is there is the same bake, which is skipped; a forced
# one changes nothing.
again() {
	what=$1
	shift
	run hpabake bake "$@" -o skip.hpa
	is "$what: is skipped" \
		"$status $(sed -n '2s/.* //p' "$tmp/out")" "0 skipped"
	cp skip.hpa before.hpa
	hpabake bake -q --force "$@" -o skip.hpa
	ok "$what: rightly" cmp skip.hpa before.hpa
}

# anew NAME OPTION...: is not skipped; what is there is of another bake.
anew() {
	what=$1
	shift
	run hpabake bake "$@" -o skip.hpa
	is "$what: is not skipped" \
		"$status $(sed -n '2s/.* //p' "$tmp/out")" "0 ms"
}

test_options_of_skips() {
	level=$data/castle.map
	printf '5 2  28 13  4  one-way\n' >links
	printf '. road 3\n' >terrain
	anew "a level" "$level"
	again "the same level" "$level"
	for options in "--cluster-size 8" "--levels 2" "--transitions spread" \
		"--transitions every:3" "--threshold 4" "--moves 4" \
		"--moves 8-loose" "--no-prune" "--cache-paths" \
		"--cache-paths --compress none" "--compress all" \
		"--compress all --cache-paths" "--agent a" "--agent b" \
		"--agent b:size=2" "--agent b:size=2 --agent c" \
		"--agent b:size=2,terrain=ground" "--links links" \
		"--terrain terrain" "--blocked ."; do
		anew "$options" "$level" $options
		again "$options" "$level" $options
	done
	anew "without options" "$level"
	again "--kernel heap" "$level" --kernel heap
	again "another -j" "$level" -j 3
	again "--memlimit" "$level" --memlimit 100M
	printf '5 2  28 13  5  one-way\n' >links
	anew "links that were" "$level" --links links
	printf '5 2  28 13  6  one-way\n' >links
	anew "links that change" "$level" --links links
	printf '. road 3\n' >terrain
	anew "terrain that was" "$level" --terrain terrain
	printf '. road 4\n' >terrain
	anew "terrain that changes" "$level" --terrain terrain
}

# Each level of data/, by what is the same for all; its rows are all skipped.
all_skipped() {
	run hpabake bake "$@"
	cat "$tmp/out" "$tmp/err"
	[ "$status" = 0 ] && ! sed 1d "$tmp/out" | grep -v ' skipped$'
}

test_data_twice() {
	for options in "" "--compress all" "--compress none --cache-paths" \
		"--cache-paths --levels 2 --cluster-size 8"; do
		rm -rf twice
		run hpabake bake "$data" -d twice $options
		is "data ${options:-by default}: baked" "$status $(summary)" \
			"0 hpabake: 15 baked, 0 unchanged, 0 skipped, 0 failed"
		ok "data ${options:-by default}: all skipped" \
			all_skipped "$data" -d twice $options
		is "and it says so" "$(summary)" \
			"hpabake: 0 baked, 0 unchanged, 15 skipped, 0 failed"
	done
	touch -t 200001010000 old.time
	find twice -type f -exec touch -r old.time {} +
	run hpabake bake --force "$data" -d twice $options
	is "--force bakes them" "$(summary)" \
		"hpabake: 0 baked, 15 unchanged, 0 skipped, 0 failed"
	is "and leaves their times" "$(find twice -type f -newer old.time)" ""
}

# Levels as a build has them; the first of each is baked, then something happens
# to level or output.
test_changes() {
	cp "$data/castle.map" level.map
	chmod u+w level.map
	hpabake bake -q level.map -o skip.hpa
	touch level.map
	again "a newer level" level.map
	tr '\n' '\r' <level.map | sed 's/\r/\r\n/g' >crlf.map
	again "other line ends" crlf.map
	sed '20s/\.\.\.\./..@./' level.map >changed.map
	anew "a wall more" changed.map
	size=$(wc -c <skip.hpa | xargs)
	for place in 10 60 100 $((size / 2)) $((size - 2)); do
		hpabake bake -q level.map -o skip.hpa
		cp skip.hpa good.hpa
		printf '\125' | dd of=skip.hpa bs=1 seek=$place conv=notrunc \
			2>"$tmp/dd"
		cmp -s skip.hpa good.hpa && printf '\252' |
			dd of=skip.hpa bs=1 seek=$place conv=notrunc 2>"$tmp/dd"
		anew "byte $place of the output is damaged" level.map
		ok "byte $place: and mended" cmp skip.hpa good.hpa
	done
	head -c 1000 good.hpa >skip.hpa
	anew "an output that is cut off" level.map
	: >skip.hpa
	anew "an empty one" level.map
	cp level.map skip.hpa
	anew "one that is something else" level.map
	rm skip.hpa
	anew "a missing one" level.map
}

test_maps_twice() {
	if [ ! -d "$HPA_MAPS/dao" ]; then
		skip "real levels twice" "HPA_MAPS names no folder"
		return
	fi
	run hpabake bake "$HPA_MAPS" -d maps
	n=$(tree maps | wc -w | xargs)
	ok "real levels are baked" [ "$n" -gt 20 ]
	failed=$(summary | sed 's/.* skipped, //')
	is "all but broken ones" "$(summary)" "hpabake: $n baked, 0 unchanged, \
0 skipped, $failed"
	run hpabake bake "$HPA_MAPS" -d maps
	is "the second time does no work and says so" "$(summary)" \
		"hpabake: 0 baked, 0 unchanged, $n skipped, $failed"
	is "in each row" "$(sed 1d "$tmp/out" | grep -v -c ' skipped$')" 0
	rm -rf maps
}

# Options from a file

test_options_from() {
	printf '5 2  28 13  4.5  one-way  tunnel\n' >links
	for options in "--cluster-size 8 --levels 3 --moves 4" \
		"--transitions every:2 --no-prune" "--threshold 9 --cache-paths" \
		"--transitions spread --compress all --moves 8-loose" \
		"--compress none --cache-paths" \
		"--agent knight --agent cart:size=2,terrain=ground --links links"; do
		hpabake bake -q "$data/castle.map" $options -o from.hpa
		ok "a bake is repeated: $options" succeeds bake -q \
			"$data/castle.map" --options-from from.hpa -o same.hpa
		ok "to the byte" cmp from.hpa same.hpa
		hpabake bake -q "$data/rooms.map" $options -o rooms.hpa
		hpabake bake -q --options-from from.hpa "$data/rooms.map" \
			-o same.hpa
		ok "and for another level" cmp rooms.hpa same.hpa
	done
}

# overrides OPTIONS OVERRIDING MEANT: the bake of OPTIONS, repeated with other
# ones, is the bake of what is meant.
overrides() {
	hpabake bake -q -f "$data/castle.map" $1 -o from.hpa
	hpabake bake -q -f "$data/castle.map" $2 --options-from from.hpa \
		-o same.hpa
	hpabake bake -q -f "$data/castle.map" $3 -o meant.hpa
	ok "$1, but $2" cmp same.hpa meant.hpa
}

test_overriding() {
	printf '5 2  28 13  4.5\n' >links
	printf '6 2  28 13  4.5\n' >others
	overrides "--cluster-size 8" "--cluster-size 16" "--levels 2"
	overrides "--levels 2 --moves 4" "--levels 1 --moves 8" ""
	overrides "--transitions spread" "--transitions ends" ""
	overrides "--transitions spread --moves 4" \
		"--transitions ends --threshold 4" "--threshold 4 --moves 4"
	overrides "--threshold 4 --no-prune" "--threshold 6 --prune" ""
	overrides "--cache-paths" --no-cache-paths ""
	overrides "--no-cache-paths" --cache-paths "--cache-paths"
	overrides "--prune" --no-prune "--no-prune"
	overrides "--compress none" "--compress all" ""
	overrides "--agent a:size=2" "--agent b" "--agent b"
	overrides "--agent a --links links" "--links others" \
		"--agent a --links others"
	ok "a threshold for the policy of the file" refused 2 "--threshold goes" \
		bake "$data/castle.map" --options-from spread.hpa --threshold 4 \
		-o x.hpa
	ok "levels of the file, wide clusters" refused 2 "--levels takes" bake \
		"$data/castle.map" --options-from spread.hpa -o x.hpa \
		--cluster-size 32
	ok "a file that is none" complains 3 "level.map: " bake \
		"$data/castle.map" --options-from level.map -o x.hpa
	ok "a missing one" complains 1 "no-such.hpa: " bake \
		"$data/castle.map" --options-from no-such.hpa -o x.hpa
	hpabake bake -q "$data/keep.png" --terrain "$data/keep.terrain" \
		-o keep.hpa
	run hpabake bake "$data/keep.png" --options-from keep.hpa -o x.hpa
	is "it tells what can't be repeated" "$(cat "$tmp/err")" \
		"hpabake: keep.hpa: it has terrain, the rules for which are \
not in it; --terrain FILE says them"
	ok "unless it is said" succeeds bake "$data/keep.png" --options-from \
		keep.hpa --terrain "$data/keep.terrain" -o x.hpa
	ok "and then the same" cmp x.hpa keep.hpa
}

# Dependencies

test_depfiles() {
	mkdir ros && cp "$data/keep.yaml" "$data/keep.pgm" ros
	printf '5 2  28 13  4.5\n' >links
	printf '* ground 1\n' >terrain
	hpabake bake -q ros/keep.yaml -MD -o ros.hpa
	is "-MD names the level and its image" "$(tr -d '\\\n' <ros.d)" \
		"ros.hpa: ros/keep.yaml  ros/keep.pgm"
	hpabake bake -q "$data/dungeon.ldtk" -MD -d deps
	is "there is one for each of several levels" "$(tree deps)" \
		"dungeon_Cellar.d dungeon_Cellar.hpa dungeon_Vault.d \
dungeon_Vault.hpa"
	hpabake bake -q ros/keep.yaml --links links --terrain terrain \
		--options-from ros.hpa -MF all.deps -o named
	is "-MF names its file; terrain, links and options count" \
		"$(tr -d '\\\n' <all.deps)" "named: ros/keep.yaml  ros/keep.pgm \
 terrain  links  ros.hpa"
	hpabake bake -q ros/keep.yaml --options-from ros.hpa -MD -o ros.hpa
	is "an output does not depend on itself" "$(tr -d '\\\n' <ros.d)" \
		"ros.hpa: ros/keep.yaml  ros/keep.pgm"
	hpabake bake -q ros/keep.yaml -MD -MP -o ros.hpa
	is "-MP adds rules for all but the level" \
		"$(tail -n 1 ros.d)" "ros/keep.pgm:"
	hpabake bake -q ros second -MF all.deps -d deps
	is "-MF has a rule for each level" "$(grep -c '^deps/.*:' all.deps)" 3
	rm ros.d
	run hpabake bake ros/keep.yaml -MD -o ros.hpa
	ok "a level that is skipped has one too" [ -s ros.d ]
	is "and is skipped" "$(sed -n '2s/.* //p' "$tmp/out")" skipped
	rm -f bad.d
	run hpabake bake level.txt -MD -o bad.hpa
	ok "one that failed has none" [ ! -e bad.d ]
	cat ros/keep.yaml | hpabake bake - --format ros -MD -o in.hpa 2>"$tmp/err"
	cp "$data/castle.map" castle.map
	hpabake bake -q - -MD -o in.hpa <castle.map
	is "standard input is no file" "$(cat in.d)" "in.hpa:"
	ok "-MD with -o -" refused 2 "-MD takes an output with a name" \
		bake castle.map -MD -o -
	ok "-MP alone" refused 2 "-MP goes with -MD or -MF only" \
		bake castle.map -MP -o x.hpa
	ok "-MF without a name" refused 2 "--depfile takes a FILE" \
		bake castle.map -o x.hpa -MF
	cp castle.map 'line
feed.map'
	ok "a line feed can't be quoted" complains 1 'line?feed.map: no depfile' \
		bake 'line
feed.map' -MD -o x.hpa
}

# make understands what is quoted: it knows the files, and what is newer.
make_sees() {
	printf 'include quoted.d\nout.hpa:\n\techo\n' >mk
	touch -t 200001010000 "$1"
	touch -t 200101010000 out.hpa
	make -f mk -q out.hpa || return
	touch "$1"
	run make -f mk -q out.hpa
	[ "$status" = 1 ]
}

test_quoting() {
	for file in 'with space.map' 'two  blanks.map' 'hash#tag.map' \
		'dollar$HOME.map' 'back\slash.map' 'both\ of#them$.map' \
		'end\\ s.map' 'co:lon.map' 'both\:.map'; do
		cp "$data/crlf.map" "$file"
		hpabake bake -q "$file" -MF quoted.d -o out.hpa
		ok "make reads $(printf %s "$file" | tr '#' H)" make_sees "$file"
	done
	rm -f mk out.hpa quoted.d
}

# Files of several levels

# ldtk_level NAME NUMBERS: of 2 x 2 cells.
ldtk_level() {
	printf '{"identifier":"%s","layerInstances":[{"__type":"IntGrid",' "$1"
	printf '"__identifier":"x","__cWid":2,"__cHei":2,'
	printf '"intGridCsv":[%s]}]}' "$2"
}

# bake_ldtk LEVELS OPTION...: of a project.
bake_ldtk() {
	echo "{\"levels\":[$1]}" >several.ldtk
	shift
	rm -rf out
	run hpabake bake several.ldtk -d out "$@"
}

# A has too few numbers, D no layer.
test_broken_among_several() {
	A=$(ldtk_level A 0,0,0)
	B=$(ldtk_level B 0,0,1,0)
	D='{"identifier":"D","layerInstances":[]}'
	E=$(ldtk_level E 0,0,0,0)
	good="several_B.hpa several_E.hpa"
	failed="hpabake: 2 baked, 0 unchanged, 0 skipped, 2 failed:"
	bake_ldtk "$B,$A,$D,$E"
	is "broken levels of a file do not stop the others" \
		"$status $(tree out)" "3 $good"
	is "and are named" "$(summary)" \
		"$failed several.ldtk:A, several.ldtk:D"
	bake_ldtk "$D,$A,$E,$B" --report all.jsonl
	is "nor does the first one" "$status $(tree out)" "3 $good"
	is "which is named too" "$(summary)" \
		"$failed several.ldtk:D, several.ldtk:A"
	line all.jsonl 2
	is "a broken one has a name in the report" \
		"$(leaf status) $(leaf name) $(leaf output)" \
		"failed A out/several_A.hpa"
	is "and why" "$(leaf error.file): $(leaf error.text)" \
		"several.ldtk: level 'A': layer 'x': 3 values, not 2 x 2"
	bake_ldtk "$A,$B,$B"
	is "two of one name are told apart from that" \
		"$status $(tree out) $(summary | sed 's/.*skipped, //')" \
		"3 several_B.hpa 2 failed: several.ldtk:A, several.ldtk:B"
	bake_ldtk "$A,$D"
	is "all may be broken" "$status $(summary | sed 's/.*skipped, //')" \
		"3 2 failed: several.ldtk:A, several.ldtk:D"
	bake_ldtk "$A,$B" --pick A
	is "a broken one is picked" "$status $(cat "$tmp/err")" \
		"3 hpabake: several.ldtk: level 'A': layer 'x': 3 values, not 2 x 2"
	bake_ldtk "$A,$B" --pick B
	is "and a good one behind it" "$status $(tree out)" "0 several_B.hpa"
	missing='{"identifier":"M","externalRelPath":"no.ldtkl"}'
	bake_ldtk "$missing,$B"
	is "a missing level file is such a level" "$status $(tree out)" \
		"1 several_B.hpa"
	bake_ldtk "$B,$missing"
	is "in any order" "$status $(tree out)" "1 several_B.hpa"
}

# Report and progress

# line FILE N: that line as JSON, leaf by leaf, into leaves.
line() {
	sed -n "$2p" "$1" | ./flat >leaves
}

test_report() {
	rm -rf out
	echo text >bad.map
	run hpabake bake "$data/castle.map" bad.map "$data/dungeon.ldtk" \
		"$data/one_cell.map" -d out --report all.jsonl
	is "a line for each level" "$(wc -l <all.jsonl | xargs)" 5
	line all.jsonl 1
	hpabake info --json out/castle.hpa | ./flat >info
	is "schema, status, file, output, format" \
		"$(for key in schema status file name output format; do
			leaf $key; done | xargs)" \
		"hpabake-report-1 baked $data/castle.map out/castle.hpa movingai"
	for key in bytes width height free_cells components levels.0.clusters \
		levels.0.nodes levels.0.inter_edges levels.0.stored_edges; do
		is "$key is what info says" "$key=$(leaf $key)" \
			"$(grep "^$key=" info)"
	done
	is "the times of all passes are there" \
		"$(grep -c '^time_ms\.passes\.' leaves)" 9
	is "and of the rest" "$(grep -c -E \
		'^time_ms\.(total|read|write)=' leaves)" 3
	is "it has no warnings" "$(grep -c '^warnings' leaves)" 0
	line all.jsonl 2
	is "a failure tells why" "$(leaf status) $(leaf error.exit_code) \
$(leaf error.file):$(leaf error.line)" "failed 3 bad.map:1"
	is "in the words of the message" \
		"hpabake: bad.map:1: $(leaf error.text)" \
		"$(grep bad.map:1 "$tmp/err")"
	line all.jsonl 3
	is "one of several levels has a name" "$(leaf name) $(leaf output)" \
		"Cellar out/dungeon_Cellar.hpa"
	line all.jsonl 5
	is "what is likely to be wrong is a warning" "$(leaf warnings.0)" \
		"no cell is blocked"
	run hpabake bake "$data/castle.map" -d out --report all.jsonl
	line all.jsonl 1
	is "a skipped level has counts" \
		"$(leaf status) $(leaf levels.0.nodes) $(leaf bytes)" \
		"skipped 71 $(wc -c <out/castle.hpa | xargs)"
	is "and no times of passes" "$(grep -c '^time_ms.passes' leaves)" 0
	run hpabake bake -f "$data/castle.map" -d out --report all.jsonl
	line all.jsonl 1
	is "an unchanged one has" "$(leaf status) \
$(grep -c '^time_ms.passes' leaves)" "unchanged 9"
	hpabake bake -q "$data/castle.map" -d out --report - >all.jsonl
	line all.jsonl 1
	is "a report to standard output" "$(leaf status)" skipped
	ok "not among the bytes" refused 2 "--report takes another FILE" \
		bake "$data/castle.map" -o - --report -
	ok "a report that can't be written" complains 1 "no/where: " \
		bake -q "$data/castle.map" -d out --report no/where
}

test_progress() {
	rm -rf out
	run hpabake bake -q "$data/castle.map" bad.map "$data/dungeon.ldtk" \
		-d out --progress json
	grep '^{' "$tmp/err" >steps
	is "an object for begin, each level, and end" "$(wc -l <steps | xargs)" 5
	line steps 1
	is "begin" "$(leaf schema) $(leaf event) $(leaf levels) $(leaf done)" \
		"hpabake-progress-1 begin 3 0"
	line steps 5
	is "end: with the cells of all" \
		"$(leaf event) $(leaf levels) $(leaf done) $(leaf cells)" \
		"end 3 3 $((64 * 32 + 24 * 16 + 20 * 14))"
	sed -n 2,4p steps | while read -r step; do
		printf '%s\n' "$step" | ./flat >leaves
		echo "$(leaf event) $(leaf status) $(basename "$(leaf file)")"
	done | sort >each
	is "a level each" "$(cat each)" "level baked castle.map
level baked dungeon.ldtk
level failed bad.map"
	ok "other lines begin with hpabake:" sh -c \
		"grep -v '^{' '$tmp/err' | grep -v '^hpabake: ' && exit 1 || :"
	run hpabake bake "$data/castle.map" -d out --progress none
	ok "nothing else without a terminal" [ ! -s "$tmp/err" ]
}

# A terminal

test_terminal() {
	lacks_terminal "a terminal" && return
	bake="'$HPABAKE' bake '$data/castle.map' '$data/cave.map'"
	pty "exec $bake -d term"
	is "in a terminal it bakes as elsewhere" "$status $(tree term)" \
		"0 castle.hpa cave.hpa"
	ok "there is a bar" shows ' 0/2 levels  0.0 Mcells'
	ok "in colour" shows '\033[32m'
	ok "which is gone before what is printed" shows '\r\033[Khpabake: 2 baked'
	ok "there is the table" shows 'castle.map  '
	pty "NO_COLOR=1 exec $bake -d term"
	ok "NO_COLOR: a bar" shows ' 0/2 levels'
	ok "NO_COLOR: without colour" lacks '\033[3'
	ok "the second time is skipped" shows '0 baked, 0 unchanged, 2 skipped'
	pty "TERM=dumb exec $bake -d term"
	ok "a dumb terminal has no bar" lacks '\033'
	pty "exec $bake -d term -q"
	ok "-q shows nothing at all" [ ! -s "$tmp/out" ]
	pty "exec $bake -d term --progress none"
	ok "--progress none: no bar" lacks '\033'
	pty "exec $bake -d term 2>errors"
	ok "errors elsewhere: no bar here" lacks '\033'
	is "nor there" "$(cat errors)" \
		"hpabake: 0 baked, 0 unchanged, 2 skipped, 0 failed"
	pty "exec $bake -d term | cat"
	ok "a table elsewhere: a bar here" shows ' 0/2 levels'
	pty "exec $bake no-such.map -d term"
	is "the exit code is the same" "$status" 1
	ok "a failure is red" shows '\033[31m1 failed\033[0m: no-such.map'
	pty "exec '$HPABAKE' bake '$data/castle.map' -o -"
	is "no bytes to a terminal" "$status" 2
	ok "and it says why" shows 'hpabake: -o - writes bytes to standard output'
	pty "'$HPABAKE' bake '$data/castle.map' -o - | cat >t.hpa"
	ok "but through a pipe" cmp t.hpa castle.hpa
	run hpabake bake "$data/castle.map" "$data/cave.map" -d term
	ok "from a pipe there are no escapes" sh -c \
		"! cat '$tmp/out' '$tmp/err' | grep -q '$(printf '\033')'"
}

# A level that is a pipe, into which nobody writes, keeps the bake waiting.
interrupt() {
	tries=0
	while [ ! -e stopped/castle.hpa ] && [ $((tries += 1)) -lt 300 ]; do
		sleep 0.1
	done
	printf '\003'
}

test_interrupt() {
	lacks_terminal "Ctrl-C" && return
	mkfifo never.map
	status=0
	interrupt | python3 "$top_srcdir/tests/terminal.py" \
		"$HPABAKE" bake "$data/castle.map" never.map -d stopped \
		--report stopped.jsonl >"$tmp/out" || status=$?
	is "Ctrl-C ends it by the signal" "$status" 130
	is "what was done is there, and no litter" "$(ls -A stopped)" \
		castle.hpa
	ok "nor a report" [ ! -e stopped.jsonl ]
	ok "and it is whole" cmp stopped/castle.hpa castle.hpa
	rm -r never.map stopped
}

# Make and ninja: what README.md prints is run by test_examples.sh. Here, that
# only what has changed is baked.

make_levels() {
	mkdir build && cp "$data/castle.map" "$data/cave.map" build
	(cd build && mkdir bin && cat >bin/hpabake <<-END && chmod +x bin/hpabake
	#!/bin/sh
	echo x >>calls
	exec "$HPABAKE" "\$@"
	END
	)
	chmod u+w build/*
	printf '@ rock 0\n* ground 1\n' >build/rules
}

n_calls() {
	wc -l <build/calls 2>"$tmp/err" | xargs
}

in_build() {
	run env PATH="$PWD/build/bin:$PATH" "$@" -C build
}

test_make() {
	make_levels
	sed 's/^>/\t/' >build/Makefile <<-'END'
	all: castle.hpa cave.hpa
	%.hpa: %.map
	>hpabake bake -q -MD -MP --terrain rules $< -o $@
	>@touch $@
	-include castle.d cave.d
	END
	in_build make
	is "make bakes two levels" "$status $(n_calls)" "0 2"
	in_build make
	is "and then none" "$status $(n_calls)" "0 2"
	sleep 1
	touch build/rules
	in_build make
	is "terrain is known to both" "$status $(n_calls)" "0 4"
	rm build/rules
	sed -i 's/--terrain rules //' build/Makefile
	in_build make
	is "a file that is gone does not stop it" "$status $(n_calls)" "0 6"
	rm -r build
}

test_ninja() {
	if ! command -v ninja >"$tmp/out"; then
		skip "ninja" "it is missing: apt-get install ninja-build"
		return
	fi
	make_levels
	cat >build/build.ninja <<-'END'
	rule bake
	  command = hpabake bake -q -MF $out.d --terrain rules $in -o $out
	  depfile = $out.d
	  deps = gcc
	  restat = 1
	rule join
	  command = echo x >>joins; cat $in >$out
	build castle.hpa: bake castle.map
	build cave.hpa: bake cave.map
	build joined: join castle.hpa cave.hpa
	END
	in_build ninja
	is "ninja bakes two levels" "$status $(n_calls)" "0 2"
	in_build ninja
	is "and then none" "$status $(n_calls)" "0 2"
	sleep 1
	touch build/rules
	in_build ninja
	is "terrain is known to both" "$status $(n_calls)" "0 4"
	is "outputs that stay the same cause no work" \
		"$(wc -l <build/joins | xargs)" 1
	in_build ninja
	is "not even the next time" "$status $(n_calls)" "0 4"
	rm -r build
}

# All options of all verbs

# option_rows VERB: from its help: name, whether it takes a value, and of those
# that do, what.
option_rows() {
	hpabake "$1" --help | sed -n -E \
		-e 's/^ .{4} --([a-z-]+) ([A-Z][A-Za-z0-9,]*)( .*)?$/\1 \2/p' \
		-e 's/^ .{4} --([a-z-]+)(  .*)?$/\1/p'
}

# wrong VERB OPTION VALUE: refused on one line that names the option and tells
# what it takes.
wrong() {
	run hpabake "$1" "--$2=$3" no-such
	cat "$tmp/out" "$tmp/err"
	[ "$status" = 2 ] && [ ! -s "$tmp/out" ] &&
		[ "$(wc -l <"$tmp/err")" -eq 1 ] &&
		grep -q "^hpabake: --$2 takes ..*; see 'hpabake $1 --help'" \
			"$tmp/err"
}

no_value() {
	run hpabake "$1" no-such "--$2"
	cat "$tmp/out" "$tmp/err"
	[ "$status" = 2 ] && [ ! -s "$tmp/out" ] &&
		grep -q -x "hpabake: --$2 takes ..*, and there is none; .*" \
			"$tmp/err"
}

test_option() {
	verb=$1 option=$2 takes=$3
	if [ -z "$takes" ]; then
		ok "$verb --$option=1" wrong "$verb" "$option" 1
		return
	fi
	ok "$verb --$option without a value" no_value "$verb" "$option"
	ok "$verb --$option=" wrong "$verb" "$option" ''
	case $takes in
	N)
		for value in x -1 4294967296; do
			ok "$verb --$option=$value" wrong "$verb" "$option" "$value"
		done
		;;
	SIZE | WxH)
		for value in 0 10x 1x99999; do
			ok "$verb --$option=$value" wrong "$verb" "$option" "$value"
		done
		;;
	POLICY | RULE | WHAT | HOW | MODE)
		for value in frob 8: ends:4; do
			ok "$verb --$option=$value" wrong "$verb" "$option" "$value"
		done
		;;
	esac
}

test_verb_options() {
	option_rows "$1" >rows
	ok "$1 has options" grep -q -x help rows
	is "$1: all of them are seen" "$(wc -l <rows | xargs)" \
		"$(hpabake "$1" --help | grep -c -E '^ .{4} --' | xargs)"
	while read -r row takes; do
		test_option "$1" "$row" "$takes"
	done <rows
	ok "$1 --frob" complains 2 "there is no option --frob; see" "$1" --frob
	ok "$1 -Z" complains 2 "there is no option -Z; see" "$1" -Z
}

# A link of the castle and the cellar, in line 2, leads out of the vault.
test_stray_links() {
	out="the link 5,2 to 23,13 leads out of the"
	printf '# a tunnel\n5 2  23 13  4\n' >stray
	cp "$data/one_cell.map" "$data/dungeon.ldtk" .
	ok "a link out of the level, its line" complains 3 \
		"stray:2: $out 1 x 1 cells of one_cell.map" \
		bake one_cell.map -o x.hpa --links stray
	run hpabake bake -q level.map one_cell.map dungeon.ldtk -d strays \
		--links stray
	is "a line for each level, others are baked" \
		"$status $(grep -v failed: "$tmp/err") $(ls strays | xargs)" \
		"3 hpabake: stray:2: $out 1 x 1 cells of one_cell.map
hpabake: stray:2: $out 20 x 14 cells of dungeon.ldtk, level 'Vault' \
dungeon_Cellar.hpa level.hpa"
	ok "a baked file has no lines" complains 3 "one_cell.map: $out level" \
		bake one_cell.map -o x.hpa --options-from strays/level.hpa
}

# What is known to be wrong only when it is used.
test_values() {
	cp "$data/castle.map" level.map
	for value in '' : a:size a:size=0 a:size=65 a:terrain= a:x=1 a,b; do
		ok "--agent '$value'" refused 2 "--agent takes " \
			bake level.map -o x.hpa --agent "$value"
	done
	for value in a:size=2,size=1 a:terrain=x,terrain=y; do
		ok "--agent '$value'" refused 2 \
			"--agent takes size= and terrain= once each, not '$value'" \
			bake level.map -o x.hpa --agent "$value"
	done
	ok "two agents of one name" refused 2 "--agent takes " \
		bake level.map -o x.hpa --agent a --agent a
	ok "--blocked" refused 2 "--blocked takes letters" \
		bake level.map -o x.hpa --blocked '#12'
	ok "--blocked, behind a quoted comma" refused 2 \
		"--blocked takes letters" \
		bake level.map -o x.hpa --blocked "','x"
	for verb in bake verify; do
		hpabake bake -q level.map -o y.hpa
		set -- bake level.map -o x.hpa
		[ $verb = bake ] || set -- verify y.hpa --level level.map
		ok "$verb --format" refused 2 "--format takes one of ldtk, movingai" \
			"$@" --format frob
		ok "$verb --terrain" complains 1 "no-such: " "$@" \
			--terrain no-such
		printf '# rules\n. ground\n' >rules
		ok "$verb --terrain, its line" complains 3 "rules:2: " "$@" \
			--terrain rules
	done
	printf '# links\n1 2 3\n' >rules
	ok "--links, its line" complains 3 "rules:2: " bake level.map \
		-o x.hpa --links rules
	test_stray_links
	ok "--pick" refused 2 "$data/dungeon.ldtk: --pick takes one of the levels \
Cellar, Vault, not 'x'" bake "$data/dungeon.ldtk" -o x.hpa --pick x
	ldtk_level Vault 0,0,0,0 >vault.ldtkl
	ok "--pick of a level file" refused 2 "vault.ldtkl: --pick takes one of the levels \
Vault, not 'x'" bake vault.ldtkl -o x.hpa --pick x
	ok "its own name" succeeds bake -q vault.ldtkl -o vault.hpa --pick Vault
	ok "--layer of LDtk" refused 2 "$data/dungeon.ldtk: level 'Vault': --layer takes one of" \
		bake "$data/dungeon.ldtk" -o x.hpa --pick Vault --layer x
	ok "--layer of Tiled" refused 2 "$data/village.tmx: --layer takes one of" \
		bake "$data/village.tmx" -o x.hpa --layer x
	ok "terrain= of a class that is none" refused 2 \
		"level.map: --agent a: terrain= takes" \
		bake level.map -o x.hpa --agent a:terrain=x
	ok "info --agent" refused 2 "y.hpa: --agent takes one of" \
		info y.hpa --agent x
	ok "path --agent" refused 2 "y.hpa: --agent takes one of" \
		path y.hpa 0 0 1 1 --agent x
}

verbs() {
	hpabake --help | sed -n -E 's/^  ([a-z]+) +[A-Z].*/\1/p'
}

test_all_options() {
	ok "--help names bake and verify" [ "$(verbs | grep -c -x \
		-e bake -e verify)" = 2 ]
	for verb in $(verbs); do
		test_verb_options "$verb"
	done
	test_values
}

ok "a reader of JSON, from jansson" build_json_reader
test_folders
test_broken_in_folders
test_lists
test_streams
test_options_of_skips
test_data_twice
test_changes
test_maps_twice
hpabake bake -q "$data/castle.map" --transitions spread --levels 10 \
	-o spread.hpa
test_options_from
test_overriding
test_depfiles
test_quoting
test_broken_among_several
test_report
test_progress
test_terminal
test_interrupt
test_make
test_ninja
test_all_options
finish
