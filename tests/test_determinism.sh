# test_determinism.sh: the bytes of a bake depend on level and options only.
#
# All levels of data/, and a few real ones where there are any, are baked with
# several sets of options by one thread: these files are the measure. Then they
# are baked again while one thing is different, and every file must come out
# the same, byte by byte:
#
#   - the threads: -j, and what the environment tells OpenMP;
#   - the surroundings: locale, time zone, working directory, name and age of
#     the level, name of the output, other levels in the batch, and what
#     malloc() leaves in fresh memory, which would show in bytes nobody set;
#   - the program: the sources as they are compiled by gcc and clang, with and
#     without optimisation, without OpenMP, and with char unsigned, as it is on
#     other machines. Compiling takes seconds, so a clock in the file would
#     show too.
#
# A file that has the right bytes already is not touched by the baker; so each
# bake goes into a new folder, and a folder counts only if it has a file for
# every level.
. "$srcdir/tests/tap.sh"

levels=$tmp/levels
real_levels="dao/arena dao/den520d sc1/Aurora"
large_levels="Aurora"

# One set per line; the first is the defaults, the last has a bit of all.
everything="--transitions spread --moves 8-loose --cluster-size 32 \
--cache-paths --fast-queries --compress all"
option_sets="
--cache-paths
--fast-queries
--compress cold
--transitions every:3 --no-prune
--moves 4
--levels 4 --cluster-size 8
$everything"
n_sets=8

# Copies, because they are going to be renamed and aged.
gather_levels() {
	mkdir "$levels"
	cp "$top_srcdir"/data/*.map "$levels"
	for level in $real_levels; do
		[ ! -f "$HPA_MAPS/$level.map" ] ||
			cp "$HPA_MAPS/$level.map" "$levels"
	done
	chmod u+w "$levels"/*
	diag "levels: $(cd "$levels" && echo *)"
}

# bake DIR OPTIONS [PROGRAM]: all levels at once, into a new $tmp/DIR. The
# options are words, hence not quoted.
bake() (
	cd "$levels" &&
		"${3-$HPABAKE}" bake -q $2 ./*.map -d "$tmp/$1"
)

# same DIR MEASURE: is there a file for every level, and are they equal?
same() {
	[ "$(ls "$tmp/$1" | wc -l)" -eq "$(ls "$levels" | wc -l)" ] || return
	for baked in "$tmp/$1"/*; do
		cmp "$baked" "$tmp/$2/${baked##*/}" || return
	done
}

# bakes_as MEASURE OPTIONS [PROGRAM]
bakes_as() {
	rm -rf "$tmp/again"
	bake again "$2" "${3-$HPABAKE}" && same again "$1"
}

# The measure of each set is in the folder of its number.
test_threads() {
	number=0
	while read -r options; do
		number=$((number + 1))
		ok "${options:-defaults}: bakes" bake $number "-j1 $options"
		for jobs in 2 7; do
			ok "${options:-defaults}: -j$jobs is as -j1" \
				bakes_as $number "-j$jobs $options"
		done
	done <<-END
	$option_sets
	END
	is "all sets were tried" $number $n_sets
	ok "baking again is as before" bakes_as 1 -j1
}

# alone MEASURE OPTIONS: a level by itself gets all threads, in a batch mostly
# one.
alone() (
	rm -rf "$tmp/again"
	cd "$levels" || exit
	for level in ./*.map; do
		"$HPABAKE" bake -q $2 "$level" -d "$tmp/again" || exit
	done
	same again "$1"
)

test_alone() {
	ok "three threads for each level" alone 1 -j3
	ok "the same with all options" alone $n_sets "-j3 $everything"
}

# Other options must not give the same files: else nothing was compared.
test_options() {
	number=1
	while [ "$number" -lt "$n_sets" ]; do
		number=$((number + 1))
		run cmp "$tmp/1/cave.hpa" "$tmp/$number/cave.hpa"
		is "set $number differs from the defaults" "$status" 1
	done
}

# What is large was for the threads; the rest goes on without it.
drop_large_levels() {
	for level in $large_levels; do
		rm -f "$levels/$level.map"
	done
}

# with VARIABLE=VALUE...: the defaults and the richest set, in that environment.
with() (
	export "$@"
	bakes_as 1 "" && bakes_as $n_sets "$everything"
)

# A locale that writes 1.5 as 1,5, if it can be made here.
make_locale() {
	localedef -i de_DE -f UTF-8 "$tmp/de_DE.UTF-8" >"$tmp/out" 2>&1 ||
		diag "no locale de_DE here: only its name is tried"
}

test_environment() {
	make_locale
	ok "the locale does not matter" \
		with LOCPATH="$tmp" LC_ALL=de_DE.UTF-8 LANG=tr_TR.UTF-8
	ok "the time zone does not matter" with TZ=Pacific/Kiritimati
	ok "what OpenMP is told does not matter" \
		with OMP_NUM_THREADS=3 OMP_SCHEDULE=static OMP_DYNAMIC=true
	ok "what is in fresh memory does not matter" with MALLOC_PERTURB_=165
}

# Each of these bakes castle.map to $tmp/x.hpa.
bake_alone() (
	cd "$levels" && "$HPABAKE" bake -q castle.map -o "$tmp/x.hpa"
)

bake_from_elsewhere() (
	cd / && "$HPABAKE" bake -q "$levels/castle.map" -o "$tmp/x.hpa"
)

bake_copy() (
	cp "$levels/castle.map" "$tmp/another name.map" &&
		touch -t 200001010000 "$tmp/another name.map" &&
		cd "$tmp" && "$HPABAKE" bake -q "another name.map" -o x.hpa
)

gives_castle() {
	rm -f "$tmp/x.hpa"
	"$1" && cmp "$tmp/x.hpa" "$tmp/1/castle.hpa"
}

test_places() {
	ok "other levels in the batch do not matter" gives_castle bake_alone
	ok "the working directory does not matter" \
		gives_castle bake_from_elsewhere
	ok "name, place and age of the level do not matter" \
		gives_castle bake_copy
}

# can_compile COMPILER FLAGS...: anything at all?
can_compile() {
	echo 'int main(void) { return 0; }' >"$tmp/nothing.c"
	"$@" "$tmp/nothing.c" -o "$tmp/nothing"
}

# compile COMPILER FLAGS...: the whole program with one command. Warnings are
# the build's business.
compile() {
	rm -f "$tmp/program"
	"$@" -std=gnu11 -w '-DPACKAGE_VERSION="test"' \
		-I"$top_srcdir" -I"$top_srcdir/include" \
		$(pkg-config --cflags zlib jansson) \
		"$top_srcdir"/formats/*.c "$top_srcdir"/src/*/*.c \
		$(pkg-config --libs zlib jansson) -lm -o "$tmp/program"
}

# bakes_all_sets PROGRAM: up to the first set that differs.
bakes_all_sets() {
	number=0
	while read -r options; do
		number=$((number + 1))
		bakes_as $number "$options" "$1" || return
	done <<-END
	$option_sets
	END
}

test_compiler() {
	if [ -n "$SANITIZER_FLAGS" ]; then
		skip "$*" "the build without sanitizers compares compilers"
	elif ! can_compile "$@" >"$tmp/out" 2>&1; then
		skip "$*" "does not work: apt-get install $1 libomp-dev"
	else
		ok "$* compiles the program" compile "$@"
		ok "$* makes it bake the same" bakes_all_sets "$tmp/program"
	fi
}

gather_levels
test_threads
test_alone
test_options
drop_large_levels
test_environment
test_places
test_compiler gcc -O0 -fopenmp
test_compiler gcc -O3 -fopenmp
test_compiler clang -O0 -fopenmp
test_compiler clang -O3 -fopenmp
test_compiler gcc -O1 -funsigned-char
finish
