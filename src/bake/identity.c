/* identity.c: what a bake depends on, without baking.
 *
 * The bytes of a baked file follow from the cells, the options that are stored,
 * the agents and the links. The cells have their hash, the source hash. The rest
 * is in the file as bytes: in FACT, AGNT and LINK. This file writes these bytes,
 * for layout.c and for the hash that is made of them here, so that a file can be
 * asked whether baking would only give it again.
 *
 * The options hash of the file's header takes only those FACTs that are stored,
 * which is known after the bake. The one here takes the FACT of every profile,
 * and is found again from a file by the same rule. */
#include <stdlib.h>

#include "formats/hpa_write.h"
#include "src/bake/passes.h"

void
identity_put_options(const struct bake_options *options,
                     const struct bake_agent *agent, bool is_weighted,
                     uint8_t *fact)
{
	uint32_t flags = (options->prune ? HPA_FACT_FLAG_PRUNED : 0) |
	                 (options->cache_paths ? HPA_FACT_FLAG_PATHS : 0) |
	                 (is_weighted ? HPA_FACT_FLAG_WEIGHTED : 0);

	hpa_put_le32(fact + HPA_FACT_CLUSTER_SIZE, options->cluster_size);
	hpa_put_le32(fact + HPA_FACT_N_LEVELS, options->n_levels);
	hpa_put_le32(fact + HPA_FACT_MOVES, options->moves);
	hpa_put_le32(fact + HPA_FACT_STRAIGHT, identity_straight(is_weighted));
	hpa_put_le32(fact + HPA_FACT_DIAGONAL, identity_diagonal(is_weighted));
	hpa_put_le32(fact + HPA_FACT_POLICY, options->policy);
	hpa_put_le32(fact + HPA_FACT_PARAMETER, options->policy_parameter);
	hpa_put_le32(fact + HPA_FACT_FLAGS, flags);
	hpa_put_le32(fact + HPA_FACT_AGENT_SIZE, agent->size);
}

void
identity_put_agent(const struct bake_agent *agent, uint8_t *record)
{
	memcpy(record + HPA_AGENT_NAME, agent->name, strlen(agent->name));
	memcpy(record + HPA_AGENT_TERRAIN, agent->terrain,
	       strlen(agent->terrain));
}

void
identity_put_link(const struct bake_link *link, bool is_weighted,
                  uint8_t *record)
{
	uint64_t cost = (uint64_t)link->cost * identity_straight(is_weighted);

	hpa_put_le16(record + HPA_LINK_FROM_X, link->from_x);
	hpa_put_le16(record + HPA_LINK_FROM_Y, link->from_y);
	hpa_put_le16(record + HPA_LINK_TO_X, link->to_x);
	hpa_put_le16(record + HPA_LINK_TO_Y, link->to_y);
	hpa_put_le32(record + HPA_LINK_COST, (uint32_t)((cost + 500) / 1000));
	hpa_put_le32(record + HPA_LINK_FLAGS,
	             link->is_one_way ? HPA_LINK_ONE_WAY : 0);
	memcpy(record + HPA_LINK_NAME, link->name, strlen(link->name));
}

static uint64_t
hash_facts(uint64_t hash, const uint8_t *fact)
{
	return hpa_hash(hash, fact + HPA_FACT_OPTIONS,
	                HPA_FACT_OPTIONS_END - HPA_FACT_OPTIONS);
}

/* The records of AGNT and LINK, as they would be in the file. */
static bool
hash_records(const struct bake_options *options, bool is_weighted,
             uint64_t *hash)
{
	size_t n_agents = options->agents->name[0] ? options->n_agents : 0;
	uint8_t *agents = calloc(n_agents + 1, HPA_AGENT_SIZE);
	uint8_t *links = calloc((size_t)options->n_links + 1, HPA_LINK_SIZE);
	bool ok = agents && links;

	for (size_t i = 0; ok && i < n_agents; i++)
		identity_put_agent(&options->agents[i],
		                   agents + i * HPA_AGENT_SIZE);
	for (size_t i = 0; ok && i < options->n_links; i++)
		identity_put_link(&options->links[i], is_weighted,
		                  links + i * HPA_LINK_SIZE);
	if (ok && n_agents > 0)
		*hash = hpa_hash(*hash, agents, n_agents * HPA_AGENT_SIZE);
	if (ok && options->n_links > 0)
		*hash = hpa_hash(*hash, links,
		                 (size_t)options->n_links * HPA_LINK_SIZE);
	free(agents);
	free(links);
	return ok;
}

enum diag_status
bake_identity(const struct level *level, const struct bake_options *options,
              struct bake_identity *out, struct diag *diag)
{
	struct bake_options resolved = *options;
	enum diag_status st = resolve_options(level, &resolved, diag);
	struct source source = {.level = NULL};

	*out = (struct bake_identity){0, HPA_HASH_SEED};
	if (st == DIAG_OK)
		st = source_pass(level, &resolved, &source, diag);
	if (st == DIAG_OK &&
	    !hash_records(&resolved, source.is_weighted, &out->options))
		st = out_of_memory(diag);
	for (uint32_t p = 0; st == DIAG_OK && p < resolved.n_agents; p++) {
		uint8_t fact[HPA_FACT_SIZE];

		identity_put_options(&resolved, &resolved.agents[p],
		                     source.is_weighted, fact);
		out->options = hash_facts(out->options, fact);
	}
	out->source = source.hash;
	source_free(&source);
	return st;
}

void
bake_identity_of(const struct hpa_file *file, struct bake_identity *out)
{
	static const char *const records[] = {HPA_ID_AGENTS, HPA_ID_LINKS};
	uint32_t n_profiles = hpa_file_profiles(file);

	*out = (struct bake_identity){file->source_hash, HPA_HASH_SEED};
	for (size_t i = 0; i < sizeof(records) / sizeof(records[0]); i++) {
		const struct hpa_section *section =
			hpa_file_find(file, records[i], 0);

		if (section)
			out->options = hpa_hash(out->options, section->raw,
			                        section->raw_size);
	}
	for (uint32_t p = 0; p < n_profiles; p++)
		out->options =
			hash_facts(out->options,
		                   hpa_file_find(file, HPA_ID_FACTS, p)->raw);
}

/* Sections that are compressed, of those that a search works on or the rest. */
static uint32_t
count_compressed(const struct hpa_file *file, bool critical)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < file->n_sections; i++) {
		const struct hpa_section *section = &file->sections[i];

		n += section->codec != HPA_CODEC_STORED &&
		     !(section->flags & HPA_FLAG_CRITICAL) == !critical;
	}
	return n;
}

/* Write a file, nothing of which is compressed, again. */
static bool
is_written_again(const struct hpa_file *file, enum hpa_compress compress)
{
	struct hpa_new_section sections[HPA_MAX_SECTIONS];
	uint8_t *data = NULL;
	size_t size;
	bool same;

	for (uint32_t i = 0; i < file->n_sections; i++) {
		const struct hpa_section *section = &file->sections[i];

		sections[i] = (struct hpa_new_section){
			.id = section->id,
			.profile = section->profile,
			.is_hot = section->flags & HPA_FLAG_CRITICAL,
			.raw = section->raw,
			.raw_size = section->raw_size,
		};
	}
	same = hpa_write(sections, file->n_sections, compress,
	                 file->source_hash, file->options_hash, NULL, &data,
	                 &size) &&
	       size == file->size && !memcmp(data, file->data, size);
	free(data);
	return same;
}

bool
bake_is_written_so(const struct hpa_file *file, enum hpa_compress compress)
{
	char compressor[HPA_COMPRESSOR_SIZE + 1] = "";
	bool critical = count_compressed(file, true) > 0;
	bool others = count_compressed(file, false) > 0;

	hpa_compressor(compressor);
	if (file->major != HPA_MAJOR || file->minor != HPA_MINOR ||
	    strcmp(file->compressor, compressor) != 0)
		return false;
	switch (compress) {
	case HPA_COMPRESS_NONE:
		return !critical && !others;
	case HPA_COMPRESS_COLD:
		if (critical || others || !hpa_file_find(file, HPA_ID_PATHS, 0))
			return !critical;
		break;
	case HPA_COMPRESS_ALL:
		if (critical || others)
			return critical;
		break;
	}
	/* What does not get smaller is stored under every option. */
	return is_written_again(file, compress);
}

enum hpa_compress
bake_compress_of(const struct hpa_file *file)
{
	if (count_compressed(file, true) > 0)
		return HPA_COMPRESS_ALL;
	return hpa_file_find(file, HPA_ID_PATHS, 0) &&
	                       count_compressed(file, false) == 0
	               ? HPA_COMPRESS_NONE
	               : HPA_COMPRESS_COLD;
}
