/* diff_why.c: which of its options make a baked file differ from another one.
 *
 * What is baked follows from the level, the options and hpabake itself; how it
 * is stored also from the compressor. A reason is told as "what old -> new". */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "src/cli/cli.h"
#include "src/cli/diff.h"

static void add(struct diff_why *why, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static void
add(struct diff_why *why, const char *format, ...)
{
	va_list args;

	if (why->n == DIFF_MAX_WHY)
		return;
	va_start(args, format);
	vsnprintf(why->text[why->n++], sizeof(why->text[0]), format, args);
	va_end(args);
}

static void
add_number(struct diff_why *why, const char *what, uint64_t old, uint64_t new)
{
	if (old != new)
		add(why, "%s %" PRIu64 " -> %" PRIu64, what, old, new);
}

static void
add_text(struct diff_why *why, const char *what, const char *old,
         const char *new)
{
	if (strcmp(old, new) != 0)
		add(why, "%s %s -> %s", what, *old ? old : "none",
		    *new ? new : "none");
}

static void
add_flag(struct diff_why *why, const char *what, const struct hpa_view *old,
         const struct hpa_view *new, uint32_t flag)
{
	add_text(why, what, old->flags & flag ? "yes" : "no",
	         new->flags &flag ? "yes" : "no");
}

/* A policy with its parameter, as in "ends, threshold 6". */
static void
write_policy(const struct hpa_view *view, char *out, size_t size)
{
	const char *parameter = describe_parameter(view->policy);
	size_t used = (size_t)snprintf(
		out, size, "%s",
		cli_name_of(bake_policy_names, (int)view->policy));

	if (parameter && used < size)
		snprintf(out + used, size - used, ", %s %" PRIu32, parameter,
		         view->policy_parameter);
}

static void
add_policy(struct diff_why *why, const struct hpa_view *old,
           const struct hpa_view *new)
{
	char before[48], after[48];

	write_policy(old, before, sizeof(before));
	write_policy(new, after, sizeof(after));
	add_text(why, "transitions", before, after);
}

const struct hpa_view *
diff_agent(const struct baked *baked, const char *name)
{
	for (uint32_t p = 0; p < baked->n_profiles; p++)
		if (!strcmp(baked->views[p].agent, name))
			return &baked->views[p];
	return NULL;
}

/* Agents of `from` that the other file has not, or has with other traits. */
static void
add_agents(struct diff_why *why, const struct baked *from,
           const struct baked *other, bool is_old)
{
	char what[64];

	for (uint32_t p = 0; p < from->n_profiles; p++) {
		const struct hpa_view *view = &from->views[p];
		const struct hpa_view *twin = diff_agent(other, view->agent);

		if (!twin && view->agent[0])
			add(why, "agent %s %s", view->agent,
			    is_old ? "is gone" : "was added");
		if (!twin || !is_old)
			continue;
		snprintf(what, sizeof(what), "agent %s, size", view->agent);
		add_number(why, what, view->agent_size, twin->agent_size);
		snprintf(what, sizeof(what), "agent %s, terrain", view->agent);
		add_text(why, what, view->agent_terrain, twin->agent_terrain);
	}
}

static bool
same_links(const struct hpa_view *old, const struct hpa_view *new)
{
	return old->n_links == new->n_links &&
	       (old->n_links == 0 ||
	        !memcmp(old->links, new->links,
	                (size_t)old->n_links * HPA_LINK_SIZE));
}

/* The profile of an agent that stands wherever a cell is open, or NULL. */
static const struct hpa_view *
find_plain(const struct baked *baked)
{
	for (uint32_t p = 0; p < baked->n_profiles; p++)
		if (baked->views[p].agent_size == 1 &&
		    !baked->views[p].agent_terrain[0])
			return &baked->views[p];
	return NULL;
}

/* The sides are equal; is the level? A file that names agents has a source hash
 * of another kind, and then the cells tell, as far as they can. */
static bool
same_level(const struct baked *old, const struct baked *new)
{
	const struct hpa_view *before = find_plain(old);
	const struct hpa_view *after = find_plain(new);
	bool had_agents = old->views[0].agent[0] != '\0';
	bool has_agents = new->views[0].agent[0] != '\0';

	if (had_agents == has_agents)
		return old->file.source_hash == new->file.source_hash;
	return !before || !after ||
	       !memcmp(before->cells, after->cells,
	               before->stride * before->height);
}

static void
add_level(struct diff_why *why, const struct baked *old,
          const struct baked *new)
{
	const struct hpa_view *before = &old->views[0];
	const struct hpa_view *after = &new->views[0];

	if (before->width != after->width || before->height != after->height)
		add(why,
		    "the level's size %" PRIu32 "x%" PRIu32 " -> %" PRIu32
		    "x%" PRIu32,
		    before->width, before->height, after->width, after->height);
	else if (!same_level(old, new))
		add(why, "the level differs");
	if (!same_links(before, after))
		add(why, "the links differ");
}

static void
add_options(struct diff_why *why, const struct baked *old,
            const struct baked *new)
{
	const struct hpa_view *before = &old->views[0];
	const struct hpa_view *after = &new->views[0];

	add_number(why, "cluster size", before->cluster_size,
	           after->cluster_size);
	add_number(why, "levels", before->n_levels, after->n_levels);
	add_text(why, "moves", cli_name_of(bake_move_names, (int)before->moves),
	         cli_name_of(bake_move_names, (int)after->moves));
	add_policy(why, before, after);
	add_flag(why, "pruned", before, after, HPA_FACT_FLAG_PRUNED);
	add_flag(why, "cached paths", before, after, HPA_FACT_FLAG_PATHS);
	add_agents(why, old, new, true);
	add_agents(why, new, old, false);
}

static uint32_t
n_compressed(const struct hpa_file *file)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < file->n_sections; i++)
		n += file->sections[i].codec != HPA_CODEC_STORED;
	return n;
}

/* How equal things are stored: the bytes differ and what they mean does not. */
static void
add_storage(struct diff_why *why, const struct hpa_file *old,
            const struct hpa_file *new)
{
	uint32_t before = n_compressed(old), after = n_compressed(new);
	bool is_all = why->n == 0;

	if (before != after)
		add(why,
		    "%ssections that are compressed %" PRIu32 " of %" PRIu32
		    " -> %" PRIu32 " of %" PRIu32,
		    is_all ? "only the " : "", before, old->n_sections, after,
		    new->n_sections);
	else if (is_all && strcmp(old->compressor, new->compressor) != 0)
		add_text(why, "only the compressor", old->compressor,
		         new->compressor);
	else if (is_all)
		add(why, "only how it is compressed");
}

static bool
same_bytes(const struct hpa_file *a, const struct hpa_file *b)
{
	return a->size == b->size && !memcmp(a->data, b->data, a->size);
}

void
diff_why(const struct baked *old, const struct baked *new, struct diff_why *out)
{
	out->n = 0;
	if (same_bytes(&old->file, &new->file))
		return;
	if (old->file.major != new->file.major ||
	    old->file.minor != new->file.minor)
		add(out, "format %u.%u -> %u.%u", old->file.major,
		    old->file.minor, new->file.major, new->file.minor);
	add_level(out, old, new);
	add_options(out, old, new);
	if (out->n == 0 && old->file.content_hash != new->file.content_hash)
		add(out, "the same level and options: another hpabake");
	add_storage(out, &old->file, &new->file);
}
