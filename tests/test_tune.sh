# test_tune.sh: hpabake tune, and the options that it names.
#
# Times are not tested, but what is made of them is: the front and the choice are
# computed once more from the rows. The bake that it names is typed into a shell,
# and has the bytes and the excess of its row.
. "$srcdir/tests/tap.sh"

if ! command -v python3 >"$tmp/python"; then
	skip "tune" "python3 is missing: apt-get install python3"
	finish
fi
mkdir "$tmp/work" "$tmp/bin" && cd "$tmp/work" || exit 1
data=$(cd "$top_srcdir/data" && pwd)
cp "$data/castle.map" "$data/maze.map" .
cp "$data/castle.map" "it's a castle.map"
cp "$data/keep.png" "$data/keep.terrain" .
cat >"$tmp/bin/hpabake" <<END
#!/bin/sh
exec "$HPABAKE" "\$@"
END
chmod +x "$tmp/bin/hpabake"
PATH=$tmp/bin:$PATH
export PATH

cat >judge.py <<'END'
import json, sys

def load(name):
    with open(name) as file:
        return json.load(file)

three = lambda row: (row["bytes"], row["path_us"], row["excess_mean"])

def front(tune):
    rows = tune["rows"]
    assert len(rows) > 10
    assert rows == sorted(rows, key=lambda row: row["bytes"])
    names = {(r["cluster_size"], r["levels"], r["transitions"]) for r in rows}
    assert len(names) == len(rows)
    for row in rows:
        beaten = any(three(other) != three(row) and
                     all(a <= b for a, b in zip(three(other), three(row)))
                     for other in rows)
        assert row["pareto"] == (not beaten), row
        assert 0 <= row["excess_mean"] <= row["excess_max"]
        assert row["path_us"] > 0 and row["cost_us"] > 0
        assert row["bake_ms"] > 0

def choice(tune, budget, target):
    fits = [row for row in tune["rows"]
            if (not budget or row["bytes"] <= budget) and
            (not target or row["path_us"] <= target)]
    key = "excess_mean" if budget and target \
        else "path_us" if budget else "bytes"
    assert tune["choice"] in fits
    assert tune["choice"][key] == min(row[key] for row in fits), key

check, tune = sys.argv[1], load(sys.argv[2])
if check == "front":
    front(tune)
elif check == "choice":
    choice(tune, int(sys.argv[3]), int(sys.argv[4]))
elif check == "same":
    other = load(sys.argv[3])
    facts = lambda t: sorted((r["bytes"], r["excess_mean"], r["excess_max"])
                             for r in t["rows"])
    assert facts(tune) == facts(other)
elif check == "same_excess":
    for key in "excess_mean", "excess_p99", "excess_max":
        assert tune["choice"][key] == load(sys.argv[3])["shortcuts"][key]
elif check == "value":
    for key in sys.argv[3].split("."):
        tune = tune[key]
    print(tune if isinstance(tune, str) else json.dumps(tune))
END

judge() {
	python3 judge.py "$@"
}

value() {
	judge value "$@"
}

# tune OUT ARGUMENT...: with few problems.
tune() {
	out=$1
	shift
	hpabake tune --json --problems 40 --repeat 1 "$@" >"$out"
}

# type_command JSON: in a shell, as a user would.
type_command() {
	value "$1" command >command
	sh command >typed 2>&1
}

size_of() {
	cat "$@" | wc -c | xargs
}

test_rows() {
	tune castle.json castle.map
	is "a level is tuned" $? 0
	ok "the front is the front" judge front castle.json
	is "nothing is chosen" "$(value castle.json choice)" null
	is "the seed is told" "$(value castle.json seed)" 1
	tune again.json castle.map --seed 1
	ok "and asks the same again" judge same castle.json again.json
	tune other.json castle.map --seed 2
	ok "another seed asks others" \
		sh -c '! python3 judge.py same castle.json other.json 2>&1'
	tune four.json castle.map --moves 4
	ok "other moves" judge front four.json
	run hpabake tune castle.map --problems 5 --repeat 1
	is "a row for each in the table" "$(grep -c -E \
		'^[* ] +[0-9]+ +[0-9]+  (ends|spread|every:4) ' "$tmp/out")" \
		"$(value castle.json rows | grep -o cluster_size | wc -l | xargs)"
}

test_choice() {
	tune budget.json castle.map --budget 2500
	ok "the fastest within the budget" judge choice budget.json 2500 0
	tune target.json castle.map --target-us 100000
	ok "the smallest that is fast enough" judge choice target.json 0 100000
	tune both.json castle.map --budget 4K --target-us 100000
	ok "the shortest paths within both" judge choice both.json 4096 100000
	ok "the bake can be typed" type_command budget.json
	is "and has these bytes" "$(size_of castle.hpa)" \
		"$(value budget.json choice.bytes)"
	run hpabake tune castle.map --problems 5 --repeat 1 --budget 2500
	is "the table ends with the bake" \
		"$(tail -n 1 "$tmp/out" | cut -d ' ' -f 1-3)" \
		"hpabake bake --cluster-size"
	run hpabake tune castle.map --problems 5 --repeat 1 --budget 10
	is "a budget that nothing keeps to" \
		"$status $(cut -d : -f 1,2 "$tmp/err")" \
		"4 hpabake: no options keep to the limits"
}

test_problems() {
	printf 'version 1\n' >castle.map.scen
	awk 'BEGIN { srand(5); for (i = 0; i < 60; i++)
		print 0, "castle.map", 64, 32, int(64 * rand()),
			int(32 * rand()), int(64 * rand()), int(32 * rand()), 0
	}' >>castle.map.scen
	hpabake tune castle.map --scen . --json --repeat 1 --budget 1M \
		>scen.json
	is "problems of a .scen file" "$(value scen.json problems)" 60
	is "have no seed" "$(value scen.json seed)" null
	type_command scen.json
	hpabake bench castle.hpa --scen castle.map.scen --json --repeat 1 \
		>bench.json
	ok "the excess is that of bench" judge same_excess scen.json bench.json
}

test_levels() {
	tune two.json castle.map maze.map --budget 1M
	ok "two levels" judge front two.json
	ok "are baked into a folder" type_command two.json
	is "with these bytes" "$(size_of baked/castle.hpa baked/maze.hpa)" \
		"$(value two.json choice.bytes)"
	tune quoted.json "it's a castle.map" --budget 1M
	ok "a name with a blank and a quote" type_command quoted.json
	is "is baked" "$(size_of "it's a castle.hpa")" \
		"$(value quoted.json choice.bytes)"
	tune keep.json keep.png --terrain keep.terrain --moves 8-loose \
		--budget 1M
	ok "options on reading and moving are repeated" type_command keep.json
	is "and the bytes are these" "$(size_of keep.hpa)" \
		"$(value keep.json choice.bytes)"
}

# complains CODE TEXT ARGUMENT...
complains() {
	code=$1 text=$2
	shift 2
	run hpabake tune "$@"
	cat "$tmp/err"
	[ "$status" = "$code" ] && [ "$(wc -l <"$tmp/err")" -eq 1 ] &&
		case $(cat "$tmp/err") in
		"hpabake: $text"*) ;;
		*) false ;;
		esac
}

test_complaints() {
	ok "no level" complains 2 "tune takes one level"
	ok "no such level" complains 1 "no.map: " no.map
	ok "no problems" complains 1 "maze.map: there is no .map.scen" \
		maze.map --scen .
	ok "one file of problems for two levels" complains 2 \
		"--scen takes a folder" castle.map maze.map \
		--scen castle.map.scen
	ok "a budget that is no number" complains 2 "--budget takes a number" \
		castle.map --budget much
}

test_rows
test_choice
test_problems
test_levels
test_complaints
finish
