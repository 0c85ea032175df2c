. "$srcdir/tests/tap.sh"
finish
