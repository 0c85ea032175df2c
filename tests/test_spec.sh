# test_spec.sh: formats/hpa.md is enough to read a baked file.
#
# tests/read_hpa.py was written from that page alone and in another language.
# It must find in a file what hpabake finds there: every cell, node, level, edge,
# link and cached path, line by line, for levels with all sections and every
# codec. The option sets are chosen so that each codec comes with each kind of
# section.
. "$srcdir/tests/tap.sh"

LC_ALL=C
export LC_ALL
reader=$top_srcdir/tests/read_hpa.py

# One set per line; the first is the defaults.
option_sets="
--compress none --cache-paths
--compress all --cache-paths
--compress all --transitions every:1 --no-prune --levels 3
--cluster-size 4 --levels 4 --moves 4 --compress all
--cluster-size 8 --levels 2 --transitions spread --cache-paths
--cluster-size 32 --moves 8-loose --transitions every:3 --compress all"

# What there is to read apart from plain levels.
agents="--agent knight --agent scout:size=1 --agent cart:size=2 \
--agent ogre:size=4"
classes="--agent boat:terrain=river --agent horse:size=2,terrain=ground+bridge"

write_links() {
	cat >"$tmp/links" <<-END
	# the ends, a cost, a name
	5 2  28 13  4  one-way  tunnel
	1 1  30 14  2
	28 13  1 14  1.5  one-way
	END
}

# dumps_as_one FILE: what do the two readers make of it?
dumps_as_one() {
	"$HPABAKE" info --dump "$1" >"$tmp/dump" &&
		python3 "$reader" "$1" >"$tmp/dump.py" &&
		[ -s "$tmp/dump" ] && diff "$tmp/dump" "$tmp/dump.py"
}

# reads NAME LEVEL OPTION...
reads() {
	name=$1
	shift
	ok "$name: bakes" "$HPABAKE" bake -q "$@" -o "$tmp/x.hpa"
	ok "$name: both readers find the same" dumps_as_one "$tmp/x.hpa"
}

test_levels() {
	while read -r options; do
		for level in castle cave corridor empty islands maze one_cell; do
			reads "$level $options" \
				"$top_srcdir/data/$level.map" $options
		done
	done <<-END
	$option_sets
	END
}

test_worlds() {
	keep="$top_srcdir/data/keep.png --terrain $top_srcdir/data/keep.terrain"
	write_links
	while read -r options; do
		reads "agents $options" "$top_srcdir/data/rooms.map" \
			$agents $options
		reads "terrain and links $options" $keep --links "$tmp/links" \
			$options
		reads "everything $options" $keep --links "$tmp/links" \
			$agents $classes $options
	done <<-END
	$option_sets
	END
}

# The sections that all of the above are about were there, in every codec that
# they can have.
sections_of() {
	"$HPABAKE" info "$tmp/x.hpa" |
		awk '/^  section/ { seen = 1; next } seen { print $1 ":" $2 }' |
		sort -u | tr '\n' ' '
}

test_sections() {
	"$HPABAKE" bake -q $keep --links "$tmp/links" $agents $classes \
		--cache-paths --compress all --levels 3 --cluster-size 4 \
		-o "$tmp/x.hpa"
	is "all sections were there" "$(sections_of | sed 's/:[a-z]*//g' |
		tr ' ' '\n' | sort -u | xargs)" "AGNT CELL CLUS COMP \
FACT INTR LEDG LEVL LINK NODE PATH REAC TABL TERR"
	for section in CELL NODE INTR CLUS TABL; do
		ok "$section was packed" has_section "$section:packed"
	done
	ok "TERR was deflated" has_section TERR:zlib
}

has_section() {
	case " $(sections_of)" in
	*" $1 "*) ;;
	*) false ;;
	esac
}

# A reader that agrees with anything is no second reader.
test_damage() {
	"$HPABAKE" bake -q "$top_srcdir/data/castle.map" -o "$tmp/x.hpa"
	size=$(wc -c <"$tmp/x.hpa")
	head -c $((size - 1)) "$tmp/x.hpa" >"$tmp/cut.hpa"
	run python3 "$reader" "$tmp/cut.hpa"
	is "a cut file is refused" "$status" 1
	{
		head -c 700 "$tmp/x.hpa"
		printf X
		tail -c +702 "$tmp/x.hpa"
	} >"$tmp/damaged.hpa"
	run python3 "$reader" "$tmp/damaged.hpa"
	is "a damaged file is refused" "$status" 1
}

# last_byte SECTION: give the last byte of a stored section another value, and
# put all checksums right. The offsets are those of section 3.
last_byte() {
	python3 - "$tmp/x.hpa" "$1" <<-END
		import struct, sys, zlib
		name, id = sys.argv[1], sys.argv[2].encode()
		data = bytearray(open(name, "rb").read())
		n = struct.unpack_from("<I", data, 24)[0]
		for at in range(88, 88 + 40 * n, 40):
		    if data[at : at + 4] != id:
		        continue
		    begin, size = struct.unpack_from("<QQ", data, at + 8)
		    data[begin + size - 1] ^= 1
		    crc = zlib.crc32(data[begin : begin + size])
		    struct.pack_into("<I", data, at + 32, crc)
		struct.pack_into("<I", data, 80, zlib.crc32(data[88 : 88 + 40 * n]))
		struct.pack_into("<I", data, 84, zlib.crc32(data[:84]))
		open(name, "wb").write(data)
	END
}

# What is in a section that opening has no other look at, the inside of PATH, is
# what was written.
test_content() {
	for compress in none all; do
		level=$top_srcdir/data/castle.map
		"$HPABAKE" bake -q "$level" --cache-paths \
			--compress $compress -o "$tmp/x.hpa"
		ok "$compress: it has the content it says" \
			succeeds verify "$tmp/x.hpa" --level "$level"
	done
	"$HPABAKE" bake -q "$level" --cache-paths --compress none -o "$tmp/x.hpa"
	last_byte PATH
	refused="$tmp/x.hpa: the file is damaged: the content hash is not"
	ok "a file with another path is refused" \
		complains 3 "$refused" info "$tmp/x.hpa"
	ok "by the runtime, too" \
		complains 3 "$refused" path "$tmp/x.hpa" 2 30 49 9
	run python3 "$reader" "$tmp/x.hpa"
	is "and by the second reader" "$status" 1
	"$HPABAKE" bake -q "$level" --cache-paths --compress cold -o "$tmp/x.hpa"
	last_byte PATH
	refused="$tmp/x.hpa: the file is damaged: a section does not inflate"
	ok "and one of paths that do not inflate" \
		complains 3 "$refused (PATH)" verify "$tmp/x.hpa"
	ok "by the runtime, too" \
		complains 3 "$refused" path "$tmp/x.hpa" 2 30 49 9
}

if python3 -c 'import zlib' 2>"$tmp/err"; then
	test_levels
	test_worlds
	test_sections
	test_damage
	test_content
else
	skip "a second reader" "no python3: apt-get install python3"
fi
finish
