/* hpa_layout.h: every offset, size, id and flag of the .hpa format.
 *
 * The spec is formats/hpa.md; the names here follow its tables. Numbers in the
 * file are little-endian and are read and written through the functions below,
 * at any alignment, on any machine. */
#ifndef FORMATS_HPA_LAYOUT_H
#define FORMATS_HPA_LAYOUT_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Header. */
#define HPA_MAGIC "\x89HPA\r\n\x1a\n"
#define HPA_MAGIC_SIZE 8u
#define HPA_MAJOR 1u
#define HPA_MINOR 0u

#define HPA_OFF_MAJOR 8u          /* u16 */
#define HPA_OFF_MINOR 10u         /* u16 */
#define HPA_OFF_HEADER_SIZE 12u   /* u32 */
#define HPA_OFF_FILE_SIZE 16u     /* u64 */
#define HPA_OFF_N_SECTIONS 24u    /* u32 */
#define HPA_OFF_ENTRY_SIZE 28u    /* u32 */
#define HPA_OFF_CONTENT_HASH 32u  /* u64 */
#define HPA_OFF_SOURCE_HASH 40u   /* u64 */
#define HPA_OFF_OPTIONS_HASH 48u  /* u64 */
#define HPA_OFF_INFLATED_SIZE 56u /* u64 */
#define HPA_OFF_COMPRESSOR 64u    /* 16 bytes of text, zero-padded */
#define HPA_COMPRESSOR_SIZE 16u
#define HPA_OFF_TABLE_CRC 80u     /* u32 */
#define HPA_OFF_HEADER_CRC 84u    /* u32, of the bytes before it */
#define HPA_HEADER_SIZE 88u
#define HPA_MAX_HEADER_SIZE 4096u /* of any later version */

/* Section table entry. */
#define HPA_ENT_ID 0u           /* 4 characters */
#define HPA_ENT_FLAGS 4u        /* u16 */
#define HPA_ENT_CODEC 6u        /* u8 */
#define HPA_ENT_ALIGN 7u        /* u8, log2 */
#define HPA_ENT_OFFSET 8u       /* u64 */
#define HPA_ENT_STORED_SIZE 16u /* u64 */
#define HPA_ENT_RAW_SIZE 24u    /* u64 */
#define HPA_ENT_CRC 32u         /* u32, of the stored bytes */
#define HPA_ENT_PROFILE 36u     /* u32, of its agent */
#define HPA_ENTRY_SIZE 40u

#define HPA_MAX_SECTIONS 256u
#define HPA_MAX_ALIGN 12u /* log2: a page */
#define HPA_FLAG_CRITICAL 1u

enum hpa_codec {
	HPA_CODEC_STORED = 0,
	HPA_CODEC_ZLIB = 1,
	HPA_CODEC_PACKED = 2
};

/* A zlib section: block size, number of blocks, where each block ends
 * (counted from the first one's beginning), the blocks. */
#define HPA_ZLIB_BLOCK_SIZE 0u /* u32, raw bytes of every block but the last */
#define HPA_ZLIB_N_BLOCKS 4u   /* u32 */
#define HPA_ZLIB_ENDS 8u       /* u32 each */
/* A packed section: the size of its packed bytes, then these as a zlib one. */
#define HPA_PACKED_SIZE 0u   /* u32 */
#define HPA_PACKED_BLOCKS 4u

#define HPA_BLOCK_SIZE 65536u     /* the largest, and what we write */
#define HPA_MIN_BLOCK_SIZE 1024u  /* a power of two between the two */
#define HPA_MAX_RATIO 1032u /* deflate can't do better */

/* Which sections a bake compresses; not stored, the codecs tell. */
enum hpa_compress {
	HPA_COMPRESS_NONE = 0,
	HPA_COMPRESS_COLD = 1, /* those a search does not touch */
	HPA_COMPRESS_ALL = 2
};

/* Section ids, in the order of the file. Those of the first row are there once
 * and serve all profiles; of the others each profile has its own, unless it is
 * the same as the one of the profile before. */
#define HPA_ID_AGENTS "AGNT"
#define HPA_ID_TERRAIN "TERR"
#define HPA_ID_LINKS "LINK"
#define HPA_ID_FACTS "FACT"
#define HPA_ID_CELLS "CELL"
#define HPA_ID_COMPONENTS "COMP"
#define HPA_ID_NODES "NODE"
#define HPA_ID_INTER "INTR"
#define HPA_ID_LEVELS "LEVL"
#define HPA_ID_CLUSTERS "CLUS"
#define HPA_ID_LINK_EDGES "LEDG"
#define HPA_ID_REACH "REAC"
#define HPA_ID_LABELS "HUBS" /* optional */
#define HPA_ID_TABLES "TABL" /* once, for all profiles */
#define HPA_ID_PATHS "PATH"  /* once, for all profiles */

/* FACT. */
#define HPA_FACT_WIDTH 0u           /* u32 */
#define HPA_FACT_HEIGHT 4u          /* u32 */
#define HPA_FACT_CLUSTER_SIZE 8u    /* u32 */
#define HPA_FACT_N_LEVELS 12u       /* u32 */
#define HPA_FACT_MOVES 16u          /* u32, enum hpa_move_rule */
#define HPA_FACT_STRAIGHT 20u       /* u32 */
#define HPA_FACT_DIAGONAL 24u       /* u32 */
#define HPA_FACT_POLICY 28u         /* u32, enum hpa_policy */
#define HPA_FACT_PARAMETER 32u      /* u32 */
#define HPA_FACT_FLAGS 36u          /* u32 */
#define HPA_FACT_AGENT_SIZE 40u     /* u32, cells along the agent's side */
#define HPA_FACT_N_NODES 44u        /* u32 */
#define HPA_FACT_N_COMPONENTS 48u   /* u32 */
#define HPA_FACT_MIN_FACTOR 52u     /* u32, of the cheapest free cell; or 1 */
#define HPA_FACT_N_FREE_CELLS 56u   /* u64 */
#define HPA_FACT_SIZE 64u

/* The options, and what their hash covers: these bytes of FACT. */
#define HPA_FACT_OPTIONS HPA_FACT_CLUSTER_SIZE
#define HPA_FACT_OPTIONS_END HPA_FACT_N_NODES

#define HPA_FACT_FLAG_PRUNED 1u
#define HPA_FACT_FLAG_PATHS 2u
#define HPA_FACT_FLAG_WEIGHTED 4u /* a free cell has a factor other than 1 */

enum hpa_move_rule { HPA_RULE_8 = 0, HPA_RULE_8_LOOSE = 1, HPA_RULE_4 = 2 };
enum hpa_policy {
	HPA_POLICY_ENDS = 0,
	HPA_POLICY_SPREAD = 1,
	HPA_POLICY_EVERY = 2
};

/* Limits. A cluster of 32 keeps its costs in 16 bits and one of 8192 in 32
 * bits, whatever its walls; hpa.md shows why. */
#define HPA_MAX_SIDE 65535u
#define HPA_MIN_CLUSTER_SIZE 4u
#define HPA_MAX_CLUSTER_SIZE 32u
#define HPA_MAX_TOP_CLUSTER_SIZE 8192u
#define HPA_MAX_LEVELS 12u
#define HPA_COST_STRAIGHT 70u
#define HPA_COST_DIAGONAL 99u
/* Where terrain has factors, costs count halves, so that the mean of two
 * factors is a whole number. */
#define HPA_WEIGHTED_STRAIGHT (2 * HPA_COST_STRAIGHT)
#define HPA_WEIGHTED_DIAGONAL (2 * HPA_COST_DIAGONAL)

/* AGNT: a record per profile. */
#define HPA_AGENT_NAME 0u /* text, zero-padded */
#define HPA_AGENT_NAME_SIZE 32u
#define HPA_AGENT_TERRAIN 32u /* class names with '+' between; "": any */
#define HPA_AGENT_TERRAIN_SIZE 224u
#define HPA_AGENT_SIZE 256u
#define HPA_MAX_PROFILES 16u
#define HPA_MAX_AGENT_SIZE 64u

/* TERR: the classes, then the class of each cell, in rows of whole bytes, the
 * leftmost cell in the lowest bits. */
#define HPA_TERR_N_CLASSES 0u /* u32 */
#define HPA_TERR_BITS_LOG2 4u /* u32: 1, 2, 4 or 8 bits a cell */
#define HPA_TERR_CLASSES 8u
#define HPA_CLASS_NAME 0u /* text, zero-padded */
#define HPA_CLASS_NAME_SIZE 32u
#define HPA_CLASS_FACTOR 32u /* u32, 0 to 255 */
#define HPA_CLASS_SIZE 36u
#define HPA_MAX_CLASSES 64u
#define HPA_MAX_FACTOR 255u

/* LINK: a record per link, as the user gave them. */
#define HPA_LINK_FROM_X 0u /* u16 */
#define HPA_LINK_FROM_Y 2u /* u16 */
#define HPA_LINK_TO_X 4u   /* u16 */
#define HPA_LINK_TO_Y 6u   /* u16 */
#define HPA_LINK_COST 8u   /* u32 */
#define HPA_LINK_FLAGS 12u /* u32 */
#define HPA_LINK_NAME 16u  /* text, zero-padded */
#define HPA_LINK_NAME_SIZE 32u
#define HPA_LINK_SIZE 48u
#define HPA_LINK_ONE_WAY 1u
#define HPA_MAX_LINKS 65535u
#define HPA_MAX_LINK_COST 0xffffffu

/* LEDG: a link as an edge between two nodes of a profile, in the order of
 * their first nodes. A two-way link is two of them. */
#define HPA_LEDGE_FROM 0u /* u32, node */
#define HPA_LEDGE_TO 4u   /* u32, node */
#define HPA_LEDGE_LINK 8u /* u32, index in LINK */
#define HPA_LEDGE_SIZE 12u

/* REAC: the number of components that one-way links tie together, these in
 * rising order, then for each of them a row of bits, of whole bytes: which of
 * them it reaches, itself included. */
#define HPA_REACH_N 0u /* u32 */
#define HPA_REACH_COMPONENTS 4u
#define HPA_MAX_REACH 1024u

/* COMP: a u32 per level-1 cluster, then a u32 per run of its mixed ones. */
#define HPA_COMP_NONE 0xffffffffu  /* no free cell in this cluster */
#define HPA_COMP_MIXED 0x80000000u /* the rest is the index of its first run */

/* NODE: x, y. */
#define HPA_NODE_X 0u /* u16 */
#define HPA_NODE_Y 2u /* u16 */
#define HPA_NODE_SIZE 4u

/* LEVL. */
#define HPA_LEVEL_CLUSTER_SIZE 0u   /* u32 */
#define HPA_LEVEL_N_NODES 4u        /* u32 */
#define HPA_LEVEL_N_INTER 8u        /* u32 */
#define HPA_LEVEL_RESERVED 12u      /* u32, 0 */
#define HPA_LEVEL_N_INTRA 16u       /* u64 */
#define HPA_LEVEL_N_STORED 24u      /* u64 */
#define HPA_LEVEL_SIZE 32u

#define HPA_NONE 0xffffffffu

/* TABL: one record per distinct table, 4-aligned. Narrow: u16 ends and
 * weights, u8 targets; wide: u32 ends and weights, u16 targets. */
#define HPA_TABLE_PATHS 0u   /* u32, offset in PATH or HPA_NONE */
#define HPA_TABLE_N_NODES 4u /* u16 */
#define HPA_TABLE_WIDE 6u    /* u16, 0 or 1 */
#define HPA_TABLE_OWNER 8u   /* u32, the first cluster that uses it, counted
                              * through all levels */
#define HPA_TABLE_ENDS 12u
#define HPA_TABLE_ALIGN 4u
#define HPA_NARROW_MAX_NODES 255u
#define HPA_NARROW_MAX_WEIGHT 65535u

/* HUBS: where each node's label ends, and of all labels, one behind the other,
 * the ranks, the distances and the edges. Narrow: u16 ranks and distances of 3
 * bytes; wide: u32 both. Empty: this profile has none. */
#define HPA_HUBS_WIDE 0u  /* u32, 0 or 1 */
#define HPA_HUBS_FIRST 4u /* u32[n_nodes + 1] */
#define HPA_NARROW_MAX_HUBS 65536u
#define HPA_NARROW_MAX_DISTANCE 0xffffffu
/* Two of them and two costs inside a cluster are less than 2^32. */
#define HPA_MAX_DISTANCE 0x70000000u

/* PATH: a run of equal moves in a byte. */
#define HPA_RUN_DIRECTION 7u    /* mask */
#define HPA_RUN_LENGTH_SHIFT 3u /* length - 1 above it */
#define HPA_RUN_MAX_LENGTH 32u

static inline uint16_t
hpa_get_le16(const uint8_t *p)
{
	return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t
hpa_get_le32(const uint8_t *p)
{
	return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 |
	       (uint32_t)p[3] << 24;
}

static inline uint64_t
hpa_get_le64(const uint8_t *p)
{
	return hpa_get_le32(p) | (uint64_t)hpa_get_le32(p + 4) << 32;
}

static inline void
hpa_put_le16(uint8_t *p, uint16_t value)
{
	p[0] = (uint8_t)value;
	p[1] = (uint8_t)(value >> 8);
}

static inline void
hpa_put_le32(uint8_t *p, uint32_t value)
{
	hpa_put_le16(p, (uint16_t)value);
	hpa_put_le16(p + 2, (uint16_t)(value >> 16));
}

static inline void
hpa_put_le64(uint8_t *p, uint64_t value)
{
	hpa_put_le32(p, (uint32_t)value);
	hpa_put_le32(p + 4, (uint32_t)(value >> 32));
}

/* The i-th u32 of an array in the file. */
static inline uint32_t
hpa_get_u32(const uint8_t *array, size_t i)
{
	return hpa_get_le32(array + 4 * i);
}

#define HPA_HASH_SEED 0x6870612062616b65u
#define HPA_HASH_PRIME 0x9e3779b97f4a7c15u

static inline uint64_t
hpa_hash_mix(uint64_t hash, uint64_t word)
{
	hash = (hash ^ word) * HPA_HASH_PRIME;
	return hash ^ hash >> 32;
}

/* Continue a hash over a part of a piece: over each 8 bytes as a little-endian
 * number, the last ones filled up with zeros. A part before another one has a
 * multiple of 8. */
static inline uint64_t
hpa_hash_words(uint64_t hash, const uint8_t *data, size_t size)
{
	uint8_t tail[8] = {0};
	size_t i;

	for (i = 0; size - i >= 8; i += 8)
		hash = hpa_hash_mix(hash, hpa_get_le64(data + i));
	if (i < size) {
		memcpy(tail, data + i, size - i);
		hash = hpa_hash_mix(hash, hpa_get_le64(tail));
	}
	return hash;
}

/* Continue a 64-bit hash over a piece of bytes and their count. Not
 * cryptographic; it tells builds apart, not attackers. */
static inline uint64_t
hpa_hash(uint64_t hash, const uint8_t *data, size_t size)
{
	return hpa_hash_mix(hpa_hash_words(hash, data, size), size);
}

/* What stands before a section's bytes in the content hash. */
static inline uint64_t
hpa_hash_section(uint64_t hash, const char *id, uint32_t profile)
{
	uint8_t bytes[8];

	memcpy(bytes, id, 4);
	hpa_put_le32(bytes + 4, profile);
	return hpa_hash(hash, bytes, sizeof(bytes));
}

#endif
