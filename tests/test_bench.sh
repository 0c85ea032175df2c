# test_bench.sh: hpabake bench, its figures and what it makes of wrong answers.
#
# No time is tested, only that times and what is computed from them go together.
# The excess is computed once more, by a Dijkstra in Python on the letters of the
# level, from what `hpabake path' prints. Wrong answers come from baked files
# whose cells were changed and the checksums put right.
. "$srcdir/tests/tap.sh"

if ! command -v python3 >"$tmp/python"; then
	skip "bench" "python3 is missing: apt-get install python3"
	finish
fi
mkdir "$tmp/work" && cd "$tmp/work" || exit 1
data=$(cd "$top_srcdir/data" && pwd)

# scen FILE LEVEL N: random problems, blocked ends and empty ways among them.
scen() {
	awk -v of="$(basename "$2")" -v n="$3" -v seed="${HPA_SEED:-20040712}" '
	NR == 2 { h = $2 }
	NR == 3 { w = $2 }
	END {
		srand(seed)
		print "version 1"
		for (i = 0; i < n; i++)
			print 0, of, w, h, int(w * rand()), int(h * rand()),
				int(w * rand()), int(h * rand()), 0
		print 0, of, w, h, 7, 7, 7, 7, 0
	}' "$2" >"$1"
}

# The judge of the JSON: judge.py CHECK ARGUMENT...

cat >judge.py <<'END'
import heapq, json, math, re, subprocess, sys
from xml.etree import ElementTree

SVG = "{http://www.w3.org/2000/svg}"

MODES = ["none", "rays", "shortcuts", "corridor", "cost", "first20"]
SMOOTHED = MODES[:4]
KEYS = ["mean_us", "p50_us", "p99_us", "excess_mean", "excess_p95",
        "excess_p99", "excess_max", "speedup_astar", "speedup_jps"]

def close(a, b, share=1e-6):
    return abs(a - b) <= share * max(abs(a), abs(b)) + 1e-9

def load(name):
    with open(name) as file:
        return json.load(file)

def consistent(bench):
    assert bench["wrong"] == 0, bench["wrong"]
    assert bench["flat_astar_us"] > 0
    for mode in MODES:
        m = bench[mode]
        for key in KEYS:
            assert key in m, (mode, key)
        assert 0 < m["p50_us"] <= m["p99_us"] <= m["max_us"], mode
        assert m["mean_us"] <= m["max_us"], mode
        assert 0 <= m["excess_mean"] <= m["excess_max"], mode
        assert m["excess_p95"] <= m["excess_p99"] <= m["excess_max"], mode
        assert close(m["speedup_astar"] * m["mean_us"],
                     bench["flat_astar_us"]), mode
        if bench["flat_jps_us"] is None:
            assert m["speedup_jps"] is None, mode
        else:
            assert close(m["speedup_jps"] * m["mean_us"],
                         bench["flat_jps_us"]), mode
        for phase in m["phases"].values():
            assert phase["p50_us"] <= phase["p99_us"] <= phase["max_us"]
    assert bench["cost"]["phases"]["smooth"]["max_us"] == 0
    assert bench["shortcuts"]["excess_mean"] <= bench["none"]["excess_mean"]
    assert bench["corridor"]["excess_mean"] <= \
        bench["shortcuts"]["excess_mean"]

def read_level(name):
    with open(name) as file:
        return file.read().split("map\n", 1)[1].split("\n")

def lengths_from(rows, start):
    free = lambda x, y: 0 <= y < len(rows) and 0 <= x < len(rows[y]) \
        and rows[y][x] in ".GS"
    best, heap = {}, [(0.0, start)] if free(*start) else []
    while heap:
        length, cell = heapq.heappop(heap)
        if cell in best:
            continue
        best[cell] = length
        x, y = cell
        for dx in -1, 0, 1:
            for dy in -1, 0, 1:
                if free(x + dx, y + dy) and free(x + dx, y) \
                        and free(x, y + dy):
                    step = math.sqrt(2) if dx and dy else 1
                    heapq.heappush(heap, (length + step, (x + dx, y + dy)))
    return best

def right(bench, hpabake, level, hpa, scen):
    """The counts and the excess are those of a plainer judge."""
    rows = read_level(level)
    with open(scen) as file:
        problems = [list(map(int, line.split()[4:8]))
                    for line in file.read().split("\n")[1:] if line]
    optima = [lengths_from(rows, (x1, y1)).get((x2, y2))
              for x1, y1, x2, y2 in problems]
    assert bench["problems"] == len(problems)
    assert bench["unreachable"] == optima.count(None)
    assert 0 < optima.count(None) < len(optima)
    for mode in SMOOTHED:
        out = subprocess.run([hpabake, "path", hpa, "--scen", scen,
                              "--smooth", mode], stdout=subprocess.PIPE,
                             check=True).stdout.decode()
        lengths = [float(line.split("\t")[2]) for line in out.splitlines()]
        excess = sorted(100 * (length / best - 1) if best else 0
                        for length, best in zip(lengths, optima)
                        if best is not None)
        # Lengths are printed to 6 decimals, costs are not quite lengths.
        near = lambda a, b: abs(a - b) < 0.01
        assert near(bench[mode]["excess_mean"], sum(excess) / len(excess))
        assert near(bench[mode]["excess_max"], excess[-1])
        assert near(bench[mode]["excess_p95"],
                    excess[math.ceil(0.95 * len(excess)) - 1])

def summed(several, n):
    files, (folder,) = several["files"], several["folders"]
    assert len(files) == folder["levels"] == n
    for key in "problems", "unreachable", "wrong":
        assert folder[key] == sum(file[key] for file in files), key
    weights = [file["problems"] - file["unreachable"] for file in files]
    for file in files:
        consistent(file)
    mean = lambda of: sum(w * of(file) for w, file in zip(weights, files)) \
        / sum(weights)
    assert close(folder["flat_astar_us"], mean(lambda f: f["flat_astar_us"]))
    for mode in MODES:
        for key in "mean_us", "excess_mean":
            assert close(folder[mode][key], mean(lambda f: f[mode][key]))
        assert close(folder[mode]["excess_max"],
                     max(file[mode]["excess_max"] for file in files))

def same_excess(a, b):
    for mode in MODES:
        for key in KEYS[3:7]:
            assert a[mode][key] == b[mode][key], (mode, key)

def number(text):
    return float(text.replace(",", ""))

def figure(name, lines, unit):
    """A figure says what it is about, and all of it is on the sheet."""
    root = ElementTree.parse(name).getroot()
    assert root.tag == SVG + "svg"
    width, height = map(float, root.get("viewBox").split()[2:])
    texts = [t for t in root.iter(SVG + "text")]
    of_class = lambda c: [t.text for t in texts if c in t.get("class").split()]
    assert len(of_class("title")) == len(of_class("about")) == 1
    x_label, y_label = of_class("label")
    assert "(" in x_label and unit in y_label, (x_label, y_label)
    assert len(of_class("name")) == len(of_class("legend")) == lines
    assert len(of_class("tick")) >= 4, of_class("tick")
    for text in of_class("tick"):
        number(text)
    for text in texts:
        assert 0 <= float(text.get("x")) < width
        assert 0 < float(text.get("y")) < height
    drawn = [p.get("d") for p in root.iter(SVG + "path")
             if "line" in p.get("class").split() and "L" in p.get("d")]
    assert len(drawn) == lines, len(drawn)
    for point in re.findall(r"[ML]([0-9.-]+) ([0-9.-]+)", " ".join(drawn)):
        assert 0 <= float(point[0]) <= width, point
        assert 0 <= float(point[1]) <= height, point
    return of_class("legend")

def figures(bench, stem):
    """The means in the legends are those that bench tells."""
    legend = lambda kind, *about: [
        number(re.search(r"mean ([0-9.,]+)", text).group(1))
        for text in figure(stem + "-" + kind + ".svg", *about)]
    # A*, jump points, 1 to 3 levels
    means = legend("nodes", 5, "nodes")
    assert means[2] >= means[3] >= means[4] > 0
    legend("time", 5, "(µs)")
    near = lambda a, b: abs(a - b) <= 0.06
    means = legend("excess", 4, "(%)")
    for mode, mean in zip(SMOOTHED, means):
        assert near(mean, bench[mode]["excess_mean"]), mode
    figure(stem + "-clusters.svg", 5, "(µs)")

check, name = sys.argv[1], load(sys.argv[2])
if check == "consistent":
    consistent(name)
elif check == "right":
    right(name, *sys.argv[3:])
elif check == "summed":
    summed(name, int(sys.argv[3]))
elif check == "same_excess":
    same_excess(name, load(sys.argv[3]))
elif check == "figures":
    figures(name, sys.argv[3])
elif check == "value":
    for key in sys.argv[3].split("."):
        name = name[key]
    print(json.dumps(name))
END

judge() {
	python3 judge.py "$@"
}

value() {
	judge value "$@"
}

test_figures() {
	for level in castle rooms maze; do
		hpabake bake -q "$data/$level.map" -o $level.hpa
		scen $level.map.scen "$data/$level.map" 60
		hpabake bench $level.hpa --repeat 2 --json >$level.json
		is "$level is benched" $? 0
		ok "$level: figures go together" judge consistent $level.json
	done
	ok "counts and excess are right" judge right castle.json "$HPABAKE" \
		"$data/castle.map" castle.hpa castle.map.scen
	ok "also with rooms that nothing leads to" judge right rooms.json \
		"$HPABAKE" "$data/rooms.map" rooms.hpa rooms.map.scen
	hpabake bench castle.hpa rooms.hpa maze.hpa --repeat 1 --json >all.json
	ok "several files are summed up" judge summed all.json 3
	hpabake bench "$data/castle.map" --scen . --repeat 1 --json >map.json
	ok "a level is baked first" judge same_excess castle.json map.json
	hpabake bench castle.hpa --limit 9 --repeat 1 --json >few.json
	is "--limit asks fewer" "$(value few.json problems)" 9
}

test_rules() {
	hpabake bake -q --moves 4 "$data/castle.map" -o four.hpa
	hpabake bench four.hpa --scen castle.map.scen --repeat 1 --json \
		>four.json
	ok "without diagonals" judge consistent four.json
	is "jump point search does not know these rules" \
		"$(value four.json flat_jps_us)" null
	run hpabake bench four.hpa --scen castle.map.scen --repeat 1
	is "and the table says so" "$(grep flat_jps "$tmp/out" | xargs)" \
		"flat_jps not for these rules"
	printf '5 2  28 13  4  one-way  tunnel\n' >keep.links
	cat >keep.scen <<-END
	version 1
	0 keep.png 32 16 5 2 29 13 0
	0 keep.png 32 16 29 13 5 2 0
	END
	hpabake bake -q "$data/keep.png" --terrain "$data/keep.terrain" \
		--links keep.links --agent knight \
		--agent cart:size=2,terrain=ground+bridge -o keep.hpa
	for agent in knight cart; do
		hpabake bench keep.hpa --agent $agent --scen keep.scen \
			--repeat 1 --json >$agent.json
		is "terrain and links, for the $agent" $? 0
		is "the $agent has no wrong answers" "$(value $agent.json wrong)" 0
	done
}

test_tables() {
	run hpabake bench castle.hpa --repeat 1
	is "a row for each way" "$(awk '$1 == "microseconds" { is_in = 1; next }
		!NF { is_in = 0 } is_in { print $1 }' "$tmp/out" | xargs)" \
		"flat_astar flat_jps none rays shortcuts corridor cost first20"
	run hpabake bench castle.hpa rooms.hpa --repeat 1
	is "a row for each file" "$(sed -n '2,3p' "$tmp/out" |
		awk '{ print $1, $2, $3 }' | xargs)" \
		"castle.hpa 61 0 rooms.hpa 61 0"
	is "and all of it for their folder" "$(grep -c '^\.: 2 levels, 122' \
		"$tmp/out")" 1
	printf 'version 1\n0 castle.map 64 32 0 0 9999 0 0\n' >none.scen
	run hpabake bench castle.hpa --scen none.scen
	is "no problem has a path" "$status" 0
	run hpabake bench castle.hpa --scen none.scen --json
	cp "$tmp/out" none.json
	is "and there are no times" "$(value none.json shortcuts.mean_us)" null
}

test_plot() {
	run hpabake bench castle.hpa rooms.hpa --repeat 1 --plot figures
	is "figures are drawn" "$status $(ls figures | xargs)" "0 \
castle-clusters.svg castle-excess.svg castle-nodes.svg castle-time.svg \
rooms-clusters.svg rooms-excess.svg rooms-nodes.svg rooms-time.svg"
	ok "figures of a level" judge figures castle.json figures/castle
	ok "figures of another one" judge figures rooms.json figures/rooms
	run hpabake bench castle.hpa --scen none.scen --repeat 1 --plot empty
	is "without a path there are figures too" \
		"$status $(ls empty | wc -l | xargs)" "0 4"
	run hpabake bench keep.hpa --agent cart --scen keep.scen --repeat 1 \
		--plot cart
	is "also with terrain and links, for agents" \
		"$status $(ls cart | wc -l | xargs)" "0 4"
	cp castle.hpa empty/castle.hpa
	ok "two files of one name" complains 2 "the figures of 'castle.hpa' and" \
		bench castle.hpa empty/castle.hpa --scen . --plot both
	: >file
	ok "a file is no folder" complains 1 "file/castle-time.svg: " \
		bench castle.hpa --repeat 1 --plot file
}

test_complaints() {
	ok "no file" complains 2 "bench takes one file" bench
	ok "no such file" complains 1 "no.hpa: " bench no.hpa
	ok "no problems" complains 1 "four.hpa: there is no .map.scen" bench four.hpa
	ok "one file of problems for two levels" complains 2 \
		"--scen takes a folder" bench castle.hpa rooms.hpa \
		--scen castle.map.scen
	ok "problems of another level" complains 3 "rooms.map.scen: " \
		bench castle.hpa --scen rooms.map.scen
	ok "an agent that is not there" complains 2 "castle.hpa: --agent takes one of" \
		bench castle.hpa --agent ogre
	ok "no repeats" complains 2 "--repeat takes a number from 1" \
		bench castle.hpa --repeat 0
	run hpabake bench no.hpa castle.hpa --repeat 1
	is "one that is missing does not stop the others" \
		"$status $(grep -c '^castle.hpa' "$tmp/out")" "1 1"
}

# change.py FILE N OUT: swap byte N of the cells with the next one, and make the
# checksums and the content hash fit. Distances then are those of another level.
cat >change.py <<END
import struct, sys, zlib

sys.path.insert(0, "$top_srcdir/tests")
from read_hpa import content_hash

HEADER, ENTRY = 88, 40
sections = []
with open(sys.argv[1], "rb") as file:
    data = bytearray(file.read())
n, = struct.unpack_from("<I", data, 24)
for i in range(n):
    entry = HEADER + i * ENTRY
    offset, stored = struct.unpack_from("<QQ", data, entry + 8)
    if data[entry:entry + 4] == b"CELL":
        at = offset + int(sys.argv[2])
        data[at], data[at + 1] = data[at + 1], data[at]
    struct.pack_into("<I", data, entry + 32,
                     zlib.crc32(data[offset:offset + stored]))
    sections.append((data[entry:entry + 4] + data[entry + 36:entry + ENTRY],
                     data[offset:offset + stored]))
struct.pack_into("<Q", data, 32, content_hash(sections))
struct.pack_into("<I", data, 80, zlib.crc32(data[HEADER:HEADER + n * ENTRY]))
struct.pack_into("<I", data, 84, zlib.crc32(data[:84]))
with open(sys.argv[3], "wb") as file:
    file.write(data)
END

# Some of these files are refused, some are not. Castle has 8 bytes a row.
test_wrong_answers() {
	n_noticed=0 others=
	hpabake bake -q --compress none "$data/castle.map" -o castle.hpa
	for row in 1 3 5 7 9 11 13 15 17 19 21 23 25 27 29; do
		python3 change.py castle.hpa $((8 * row + row % 7)) wrong.hpa
		run hpabake bench wrong.hpa --scen castle.map.scen --repeat 1
		case $status in
		0 | 3) ;;
		4)
			n_noticed=$((n_noticed + 1))
			cp "$tmp/err" noticed
			;;
		*) others="$others $row:$status" ;;
		esac
	done
	is "nothing else happens" "$others" ""
	ok "wrong answers are noticed" test "$n_noticed" -gt 0
	ok "and told" grep -q '^hpabake: wrong.hpa: .* answers are wrong$' noticed
}

test_figures
test_rules
test_tables
test_plot
test_complaints
test_wrong_answers
finish
