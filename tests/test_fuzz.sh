# test_fuzz.sh: the fuzz targets under clang's fuzzer, for a fixed number of inputs.
#
# `make fuzz' builds them, with sanitizers of their own. Each begins with the files
# that its driver (fuzz_driver.c) begins with. An input must not take more than
# FUZZ_LIMITS says, nor a second of the processor's time (fuzz.h), nor leak. One
# that does stays in the build directory. The seed is printed and taken back.
. "$srcdir/tests/tap.sh"

runs=20000
seed=${HPA_SEED:-20040712}

can_fuzz() {
	echo 'int LLVMFuzzerTestOneInput(const char *data, unsigned long size);
	int LLVMFuzzerTestOneInput(const char *data, unsigned long size) {
		return data && size > 99999; }' >"$tmp/nothing.c"
	clang -fsanitize=fuzzer,address,undefined "$tmp/nothing.c" \
		-o "$tmp/nothing"
}

# The build has its own idea of what make was told.
make_fuzz() {
	env -u MAKEFLAGS -u MFLAGS "$MAKE" -C "$top_builddir" fuzz
}

# fuzz TARGET
fuzz() {
	folder=$tmp/$1
	mkdir -p "$folder/seeds" &&
		HPA_FUZZ_SEEDS=$folder/seeds "$top_builddir/tests/$1" &&
		ASAN_OPTIONS=quarantine_size_mb=4:malloc_context_size=0 \
			"$top_builddir/tests/$1.libfuzzer" -seed="$seed" \
			-runs=$runs $FUZZ_LIMITS \
			-artifact_prefix="$top_builddir/tests/$1." \
			"$folder" "$folder/seeds"
}

if [ -n "$SANITIZER_FLAGS" ]; then
	skip "clang's fuzzer" "the build without sanitizers does it"
elif ! can_fuzz >"$tmp/out" 2>&1; then
	skip "clang's fuzzer" "does not work: apt-get install clang libclang-rt-dev"
else
	diag "seed $seed"
	ok "the fuzz targets are built" make_fuzz
	for source in "$top_srcdir"/tests/fuzz_*.c; do
		target=$(basename "$source" .c)
		[ "$target" = fuzz_driver ] ||
			ok "$target: $runs inputs do no harm" fuzz "$target"
	done
fi
finish
