/* test_identity.c: when is a file what a bake would give?
 *
 * hpabake skips a level if the identity of its bake, which is found without
 * baking, is that of the file that is there, and the file is written as it would
 * be. Here the bake is made all the same and judges: the file it gives has the
 * identity that was foretold; two bakes of one identity have the same sections,
 * whatever differs between them; and a file counts as written so exactly if the
 * bytes are the same. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tests/world.h"

#define MAX_SIDE 40
#define N_WORLDS 300

static struct bake_identity
identity(const struct world *world, const struct bake_options *options)
{
	struct bake_identity out;
	struct diag diag;

	if (bake_identity(&world->level, options, &out, &diag) != DIAG_OK)
		fail_msg("%s", diag.text);
	return out;
}

static bool
is_same(const struct bake_identity *a, const struct bake_identity *b)
{
	return a->source == b->source && a->options == b->options;
}

static void
a_bake_has_the_identity_that_was_foretold(void **state)
{
	struct rng rng = {test_seed()};

	(void)state;
	for (uint32_t i = 0; i < N_WORLDS; i++) {
		struct world world = random_world(&rng, MAX_SIDE);
		struct bake_options options = world_options(&rng, &world);
		struct bake_identity foretold = identity(&world, &options);
		struct bake_identity found;
		struct world_file baked;

		world_bake(&world, &options, &baked);
		bake_identity_of(&baked.file, &found);
		assert_true(is_same(&foretold, &found));
		world_close(&baked);
		level_free(&world.level);
	}
}

/* Change one thing, which may be of no consequence. */
static void
change(struct rng *rng, struct world *world, struct bake_options *options)
{
	struct bake_agent *agent =
		&world->agents[rng_below(rng, WORLD_MAX_AGENTS)];
	struct bake_link *link = &world->links[rng_below(rng, WORLD_MAX_LINKS)];
	size_t n_cells = (size_t)world->level.width * world->level.height;
	size_t cell = rng_below(rng, (uint32_t)n_cells);

	switch (rng_below(rng, 15)) {
	case 0:
		options->cluster_size = rng_between(rng, 4, 12);
		break;
	case 1:
		options->n_levels = rng_below(rng, 4);
		break;
	case 2:
		options->moves = (enum hpa_move_rule)rng_below(rng, 3);
		break;
	case 3:
		options->policy = (enum hpa_policy)rng_below(rng, 3);
		break;
	case 4:
		if (options->policy != HPA_POLICY_SPREAD)
			options->policy_parameter = rng_below(rng, 8);
		break;
	case 5:
		options->prune = !options->prune;
		break;
	case 6:
		options->cache_paths = !options->cache_paths;
		break;
	case 7:
		options->kernel = BAKE_KERNEL_HEAP;
		break;
	case 8:
		options->compress = (enum hpa_compress)rng_below(rng, 3);
		break;
	case 9:
		agent->size = rng_between(rng, 1, 3);
		break;
	case 10:
		agent->name[0] = (char)rng_between(rng, 'a', 'z');
		break;
	case 11:
		link->cost = rng_below(rng, 1000);
		break;
	case 13:
		options->fast_queries = !options->fast_queries;
		break;
	case 12:
		link->is_one_way = !link->is_one_way;
		break;
	default:
		world->level.cells[cell] = (uint8_t)rng_below(rng, 2);
		break;
	}
}

static bool
has_same_sections(const struct hpa_file *a, const struct hpa_file *b)
{
	return a->content_hash == b->content_hash &&
	       a->source_hash == b->source_hash &&
	       a->options_hash == b->options_hash;
}

static void
one_identity_has_one_content(void **state)
{
	struct rng rng = {test_seed()};
	uint32_t n_same = 0, n_differ = 0;

	(void)state;
	for (uint32_t i = 0; i < N_WORLDS; i++) {
		struct world world = random_world(&rng, MAX_SIDE);
		struct bake_options options = world_options(&rng, &world);
		struct bake_identity before = identity(&world, &options), after;
		struct world_file a, b;

		world_bake(&world, &options, &a);
		change(&rng, &world, &options);
		after = identity(&world, &options);
		world_bake(&world, &options, &b);
		if (is_same(&before, &after)) {
			assert_true(has_same_sections(&a.file, &b.file));
			n_same++;
		} else {
			assert_false(has_same_sections(&a.file, &b.file));
			n_differ++;
		}
		world_close(&a);
		world_close(&b);
		level_free(&world.level);
	}
	printf("# %u changes left all as it was, %u did not\n",
	       (unsigned)n_same, (unsigned)n_differ);
	assert_true(n_same > 0 && n_differ > 0);
}

static void
written_so_means_the_same_bytes(void **state)
{
	struct rng rng = {test_seed()};
	uint32_t n_same = 0, n_differ = 0;

	(void)state;
	for (uint32_t i = 0; i < N_WORLDS; i++) {
		struct world world = random_world(&rng, MAX_SIDE);
		struct bake_options options = world_options(&rng, &world);
		struct world_file a, b;
		bool same;

		world_bake(&world, &options, &a);
		assert_true(bake_is_written_so(&a.file, options.compress));
		assert_true(
			bake_is_written_so(&a.file, bake_compress_of(&a.file)));
		options.compress = (enum hpa_compress)rng_below(&rng, 3);
		world_bake(&world, &options, &b);
		same = a.image.size == b.image.size &&
		       !memcmp(a.image.data, b.image.data, a.image.size);
		assert_int_equal(bake_is_written_so(&a.file, options.compress),
		                 same);
		n_same += same;
		n_differ += !same;
		world_close(&a);
		world_close(&b);
		level_free(&world.level);
	}
	assert_true(n_same > 0 && n_differ > 0);
}

/* Where each of the version's numbers is, and the compressor's name. */
static void
another_version_is_not_written_so(void **state)
{
	static const size_t offsets[] = {HPA_OFF_MINOR, HPA_OFF_COMPRESSOR + 5};
	struct rng rng = {test_seed()};
	struct world world = random_world(&rng, MAX_SIDE);
	struct bake_options options = world_options(&rng, &world);
	struct world_file baked;

	(void)state;
	world_bake(&world, &options, &baked);
	for (size_t i = 0; i < N_ELEMENTS(offsets); i++) {
		uint8_t *byte = &baked.image.data[offsets[i]];
		struct hpa_file file = baked.file;

		++*byte;
		file.minor = hpa_get_le16(baked.image.data + HPA_OFF_MINOR);
		memcpy(file.compressor, baked.image.data + HPA_OFF_COMPRESSOR,
		       HPA_COMPRESSOR_SIZE);
		assert_false(bake_is_written_so(&file, options.compress));
		--*byte;
	}
	world_close(&baked);
	level_free(&world.level);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_bake_has_the_identity_that_was_foretold),
		cmocka_unit_test(one_identity_has_one_content),
		cmocka_unit_test(written_so_means_the_same_bytes),
		cmocka_unit_test(another_version_is_not_written_so),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
