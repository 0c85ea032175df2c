#!/bin/sh
# check_foreign.sh: machines of other kinds read, answer and bake the same.
#
#     check_foreign.sh SRCDIR NATIVE [ARCHITECTURE]...
#
# SRCDIR is the source, NATIVE a build of it with this machine's hpabake. For
# each architecture, by its Debian name, the program and some tests are built
# with a cross compiler and run by qemu; without one these are s390x, which is
# big-endian, and i386, which has 32 bits. It is all in ./foreign.
#
# Needed are gcc and g++ for the architecture and qemu-user:
#
#     apt-get install qemu-user-static g++-s390x-linux-gnu g++-i686-linux-gnu
#
# The libraries are taken from Debian's packages for it, which are downloaded and
# unpacked but not installed.
set -eu

tests="test_blocks test_file test_hubs test_kernel test_links test_pack test_query
	test_sections test_tables"

# The levels and options of which all output must be the same.
option_sets="
--compress none --cache-paths
--compress all --cache-paths --levels 2
--compress all --transitions every:3 --cluster-size 8 --levels 3 --moves 4
--compress cold --fast-queries --levels 2
--compress all --fast-queries --agent small --agent large:size=2"

say() {
	printf '%s\n' "check-foreign: $*"
}

die() {
	say "$*" >&2
	exit 1
}

# The compiler's name for an architecture, and qemu's.
triplet_of() {
	case $1 in
	i386) echo i686-linux-gnu ;;
	armhf) echo arm-linux-gnueabihf ;;
	*) echo "$1-linux-gnu" ;;
	esac
}

qemu_of() {
	case $1 in
	armhf) echo qemu-arm-static ;;
	*) echo "qemu-$1-static" ;;
	esac
}

# What the packages call the folder of libraries.
libraries_of() {
	case $1 in
	armhf) echo arm-linux-gnueabihf ;;
	*) echo "$1-linux-gnu" ;;
	esac
}

# Download and unpack libraries, with lists of packages of our own.
fetch() {
	[ ! -e "$root/done" ] || return 0
	mkdir -p "$place/lists/partial" "$place/cache/archives/partial" \
		"$place/packages" "$root"
	apt="apt-get -q -o APT::Architecture=$arch -o APT::Architectures=$arch
		-o Dir::State::Lists=$place/lists -o Dir::Cache=$place/cache"
	$apt update
	(cd "$place/packages" &&
		$apt download zlib1g zlib1g-dev libjansson4 libjansson-dev \
			libcmocka0 libcmocka-dev)
	for package in "$place"/packages/*.deb; do
		dpkg -x "$package" "$root"
	done
	touch "$root/done"
}

build() {
	mkdir -p "$place/build"
	cd "$place/build"
	PKG_CONFIG_LIBDIR=$root/usr/lib/$libraries/pkgconfig
	PKG_CONFIG_SYSROOT_DIR=$root
	export PKG_CONFIG_LIBDIR PKG_CONFIG_SYSROOT_DIR
	[ -e config.status ] || "$srcdir/configure" -q --host="$triplet" \
		--disable-shared --without-png --without-yaml --without-expat \
		--without-zstd CPPFLAGS="-I$root/usr/include" \
		LDFLAGS="-L$root/usr/lib/$libraries"
	make -j"$(nproc)" V=0 hpabake $(printf 'tests/%s ' $tests)
}

# Run a program of the architecture.
foreign() {
	"$qemu" -L "/usr/$triplet" -E "LD_LIBRARY_PATH=/usr/$triplet/lib:$root/usr/lib/$libraries:$root/lib/$libraries" "$@"
}

# ask PROGRAM...: all there is to say about $place/x.hpa.
ask() {
	"$@" info --dump "$place/x.hpa"
	for mode in none rays shortcuts corridor; do
		"$@" path "$place/x.hpa" --scen "$place/x.scen" --cells \
			--smooth $mode
	done
	"$@" verify "$place/x.hpa" --level "$level" --scen "$place/x.scen"
}

# Some hundred problems, which all machines must make up alike.
write_scen() {
	awk -v seed="$1" 'BEGIN {
		print "version 1"
		state = seed
		for (i = 0; i < 400; i++) {
			for (k = 1; k <= 4; k++) {
				state = (state * 16807) % 2147483647
				at[k] = state % 41
			}
			printf "0\tx\t0\t0\t%d\t%d\t%d\t%d\t0\n", at[1], at[2],
				at[3], at[4]
		}
	}'
}

compare() {
	"$native/hpabake" bake -q "$level" $options -o "$place/x.hpa"
	foreign ./hpabake bake -q "$level" $options -o "$place/y.hpa"
	cmp "$place/x.hpa" "$place/y.hpa" || die "$arch bakes $level otherwise"
	write_scen 4711 >"$place/x.scen"
	ask "$native/hpabake" >"$place/native.txt" || true
	ask foreign ./hpabake >"$place/foreign.txt" || true
	cmp "$place/native.txt" "$place/foreign.txt" ||
		die "$arch answers otherwise: $level $options"
	n_lines=$((n_lines + $(wc -l <"$place/foreign.txt")))
}

run_tests() {
	top_srcdir=$srcdir
	export top_srcdir
	for test in $tests; do
		foreign "tests/$test" >"$place/$test.log" 2>&1 ||
			die "$arch fails: $place/$test.log"
		say "$arch: $test passes"
	done
}

check() {
	arch=$1
	triplet=$(triplet_of "$arch")
	libraries=$(libraries_of "$arch")
	qemu=$(qemu_of "$arch")
	place=$here/$arch
	root=$place/root
	n_lines=0
	command -v "$qemu" >/dev/null ||
		die "no $qemu: apt-get install qemu-user-static"
	command -v "$triplet-g++" >/dev/null ||
		die "no $triplet-g++: apt-get install g++-$triplet"
	mkdir -p "$place"
	fetch >"$place/fetch.log" 2>&1 || die "see $place/fetch.log"
	(build) >"$place/build.log" 2>&1 || die "see $place/build.log"
	cd "$place/build"
	for level in castle cave islands rooms; do
		level=$srcdir/data/$level.map
		while read -r options; do
			compare
		done <<-END
		$option_sets
		END
	done
	say "$arch: all bytes and $n_lines lines of answers are the same"
	run_tests
}

[ $# -ge 2 ] || die "usage: check_foreign.sh SRCDIR NATIVE [ARCHITECTURE]..."
srcdir=$(cd "$1" && pwd)
native=$(cd "$2" && pwd)
shift 2
[ $# -gt 0 ] || set -- s390x i386
mkdir -p foreign
here=$PWD/foreign
for architecture; do
	(check "$architecture")
done
