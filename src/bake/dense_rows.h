/* dense_rows.h: the loops of dense.c, for one instruction set. A template, with
 *
 *     DENSE_NAME(name)   name made unique
 *     DENSE_TARGET       attributes of the functions
 *     DENSE_VECTOR       a vector of lanes
 *     LESSER(a, b)       of each two lanes */

#define PER_VECTOR (sizeof(DENSE_VECTOR) / sizeof(int16_t))

/* The longest distance in the first n lanes of a row. */
DENSE_TARGET static int
DENSE_NAME(longest)(const int16_t *row, uint32_t n)
{
	const DENSE_VECTOR *lanes = (const DENSE_VECTOR *)(const void *)row;
	DENSE_VECTOR least = {0};
	int longest = 0;

	/* Lesser is what is negative: minus the distance, or 0 if there is
	 * none. */
	for (uint32_t i = 0; i * PER_VECTOR < n; i++) {
		DENSE_VECTOR is_way = lanes[i] < (int16_t)DENSE_FAR;

		least = LESSER(least, -(lanes[i] & is_way));
	}
	for (uint32_t i = 0; i < PER_VECTOR; i++)
		if (-least[i] > longest)
			longest = -least[i];
	return longest;
}

/* Offer the ways over one node, `via` behind it, to another one. */
DENSE_TARGET static inline void
DENSE_NAME(offer)(int16_t *row, const int16_t *via, int16_t cost, uint32_t n)
{
	DENSE_VECTOR *to = (DENSE_VECTOR *)(void *)row;
	const DENSE_VECTOR *from = (const DENSE_VECTOR *)(const void *)via;

	for (uint32_t i = 0; i * PER_VECTOR < n; i++)
		to[i] = LESSER(to[i], from[i] + cost);
}

/* Take the node `via` out: let all others before `end` go over it. */
DENSE_TARGET static bool
DENSE_NAME(go_over)(struct dense *dense, uint32_t via, uint32_t end)
{
	int16_t *row = dense_row(dense, via);
	int longest = DENSE_NAME(longest)(row, end);

	for (uint32_t i = 0; i < end; i++) {
		int16_t cost = row[i];

		if (cost >= DENSE_FAR || i == via)
			continue;
		if (cost + longest >= DENSE_FAR)
			return false;
		DENSE_NAME(offer)(dense_row(dense, i), row, cost, end);
	}
	return true;
}

#undef PER_VECTOR
