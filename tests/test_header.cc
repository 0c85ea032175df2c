// test_header.cc: hpa.h is C++ too, and a program links against libhpa alone.
//
// Speaks TAP by itself: cmocka is for C. Bakes a level with the program under
// test and walks through it with every type and most calls of the header.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "hpa.h"

static int n_tests;
static int n_failed;

static void
ok(bool good, const char *name)
{
	n_tests++;
	n_failed += !good;
	std::printf("%s %d - %s\n", good ? "ok" : "not ok", n_tests, name);
}

static std::string
variable(const char *name)
{
	const char *value = std::getenv(name);

	return value ? value : "";
}

static bool
bake(const std::string &level, const std::string &file)
{
	std::string command = "\"" + variable("HPABAKE") + "\" bake -q \"" +
	                      level + "\" -o " + file;

	return std::system(command.c_str()) == 0;
}

static std::size_t n_allocated;

static void *
counting_alloc(void *, std::size_t size)
{
	n_allocated += size;
	return std::malloc(size);
}

static void
counting_free(void *, void *memory, std::size_t size)
{
	n_allocated -= size;
	std::free(memory);
}

static void
test_bad_bytes()
{
	const char bytes[] = "this is no baked level";
	const char *detail = nullptr;
	hpa_open_options options = {};
	hpa_map *map = nullptr;

	options.detail = &detail;
	ok(hpa_map_open_memory(bytes, sizeof(bytes), &options, &map) ==
	           HPA_NOT_HPA,
	   "bytes that are no baked level are refused");
	ok(map == nullptr && detail && *detail, "and it is told why");
	ok(std::strlen(hpa_status_text(HPA_NOT_HPA)) > 0,
	   "a status has a text");
}

static void
test_walk(const hpa_map *map, hpa_query *query)
{
	const hpa_cell from = {2, 30}, to = {49, 9};
	std::vector<hpa_cell> path(1), walk;
	std::size_t n = 0;
	std::uint64_t cost = 0, again = 0;
	hpa_status st;

	hpa_query_set_smoothing(query, HPA_SMOOTH_NONE, 0);
	st = hpa_query_path(query, from, to, path.data(), 1, &n);
	ok(st == HPA_NO_ROOM && n > 1, "a small buffer is told the size");
	path.resize(n);
	st = hpa_query_path(query, from, to, path.data(), path.size(), &n);
	ok(st == HPA_OK && path.back().x == to.x && path.back().y == to.y,
	   "the path leads to the goal");
	ok(hpa_map_reachable(map, from, to) == HPA_OK, "which is reachable");
	ok(hpa_query_cost(query, from, to, &cost) == HPA_OK && cost > 0,
	   "at a cost");
	st = hpa_query_start(query, from, to, &again);
	while (st == HPA_OK && n > 0) {
		hpa_cell piece[8];

		st = hpa_query_next(query, piece, 8, &n);
		walk.insert(walk.end(), piece, piece + n);
	}
	ok(cost == again && walk.size() == path.size(),
	   "walking it piece by piece is the same");
}

int
main()
{
	const std::string file = "test_header.hpa";
	const hpa_allocator allocator = {counting_alloc, counting_free,
	                                 nullptr};
	hpa_map *map = nullptr;
	hpa_query *query = nullptr;

	test_bad_bytes();
	ok(bake(variable("top_srcdir") + "/data/castle.map", file),
	   "a level is baked");
	ok(hpa_map_open(file.c_str(), &map) == HPA_OK, "and opened");
	if (map && hpa_query_new(map, &allocator, &query) == HPA_OK) {
		ok(n_allocated == hpa_query_size(map),
		   "a query takes the memory it says");
		test_walk(map, query);
	}
	hpa_query_free(query);
	hpa_map_close(map);
	std::remove(file.c_str());
	ok(n_allocated == 0 && n_tests == 11, "all memory is given back");
	std::printf("1..%d\n", n_tests);
	return n_failed != 0;
}
