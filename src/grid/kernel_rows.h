/* kernel_rows.h: the sweeps of kernel.c, for one width and one instruction set.
 *
 * A template: kernel.c includes it once for each, with
 *
 *     KERNEL_NAME(name)   name made unique
 *     KERNEL_PARTS        vectors in a row, 2 or 4
 *     KERNEL_TARGET       attributes of the functions
 *
 * All loops over parts are unrolled, so that rows live in registers. */

struct KERNEL_NAME(row) {
	kernel_vector part[KERNEL_PARTS];
};

#define ROW struct KERNEL_NAME(row)
#define INLINE KERNEL_TARGET static inline __attribute__((always_inline))
#define EACH_PART                                                              \
	_Pragma("GCC unroll 4") for (unsigned i = 0; i < KERNEL_PARTS; i++)

INLINE ROW
KERNEL_NAME(load)(const kernel_vector *from)
{
	ROW row;

	EACH_PART
		row.part[i] = from[i];
	return row;
}

INLINE void
KERNEL_NAME(store)(kernel_vector *to, ROW row)
{
	EACH_PART
		to[i] = row.part[i];
}

INLINE ROW
KERNEL_NAME(add)(ROW a, ROW b)
{
	EACH_PART
		a.part[i] += b.part[i];
	return a;
}

INLINE ROW
KERNEL_NAME(least)(ROW a, ROW b)
{
	EACH_PART
		a.part[i] = MIN_LANES(a.part[i], b.part[i]);
	return a;
}

INLINE bool
KERNEL_NAME(differ)(ROW a, ROW b)
{
	kernel_vector any = {0};
	wide_vector words;

	EACH_PART
		any |= a.part[i] ^ b.part[i];
	words = (wide_vector)any;
	return (words[0] | words[1]) != 0;
}

/* Move all lanes n cells to the right or, with `left`, to the left; what comes
 * in is KERNEL_FAR. n is a constant. */
INLINE ROW
KERNEL_NAME(shift)(ROW row, unsigned n, bool left)
{
	ROW out;

	EACH_PART {
		unsigned skip = n / KERNEL_LANES;
		kernel_vector near = FAR_LANES, far = FAR_LANES;

		if (left) {
			if (i + skip < KERNEL_PARTS)
				near = row.part[i + skip];
			if (i + skip + 1 < KERNEL_PARTS)
				far = row.part[i + skip + 1];
		} else {
			if (i >= skip)
				near = row.part[i - skip];
			if (i >= skip + 1)
				far = row.part[i - skip - 1];
		}
		switch (n % KERNEL_LANES) {
		case 0:
			out.part[i] = near;
			break;
		case 1:
			out.part[i] = left ? TAKE_FROM(near, far, 1)
			                   : TAKE_FROM(far, near, 7);
			break;
		case 2:
			out.part[i] = left ? TAKE_FROM(near, far, 2)
			                   : TAKE_FROM(far, near, 6);
			break;
		default:
			out.part[i] = TAKE_FROM(left ? near : far,
			                        left ? far : near, 4);
			break;
		}
	}
	return out;
}

/* Let a row's cells reach each other along it, 1 << s cells at a time. */
INLINE ROW
KERNEL_NAME(spread_by)(const struct kernel *kernel, ROW row, size_t at,
                       unsigned s)
{
	ROW step = KERNEL_NAME(load)(kernel->along[s] + at);
	ROW right = KERNEL_NAME(add)(KERNEL_NAME(shift)(row, 1u << s, false),
	                             step);
	ROW left = KERNEL_NAME(shift)(KERNEL_NAME(add)(row, step), 1u << s,
	                              true);

	return KERNEL_NAME(least)(row, KERNEL_NAME(least)(left, right));
}

/* By 1, 2, 4 … cells: after each step twice as many have been looked at.
 * Written out, because the shifts have to be constants. */
INLINE ROW
KERNEL_NAME(spread)(const struct kernel *kernel, ROW row, size_t at)
{
	row = KERNEL_NAME(spread_by)(kernel, row, at, 0);
	row = KERNEL_NAME(spread_by)(kernel, row, at, 1);
	row = KERNEL_NAME(spread_by)(kernel, row, at, 2);
	if (KERNEL_PARTS * KERNEL_LANES > 8)
		row = KERNEL_NAME(spread_by)(kernel, row, at, 3);
	if (KERNEL_PARTS * KERNEL_LANES > 16)
		row = KERNEL_NAME(spread_by)(kernel, row, at, 4);
	return row;
}

/* Take what the row above offers; the new row is stored. */
INLINE bool
KERNEL_NAME(go_down)(struct kernel *kernel, size_t at, ROW *above)
{
	ROW old = KERNEL_NAME(load)(kernel->cost + at);
	ROW left = KERNEL_NAME(add)(KERNEL_NAME(shift)(*above, 1, false),
	                            KERNEL_NAME(load)(kernel->above_left + at));
	ROW right = KERNEL_NAME(add)(
		KERNEL_NAME(shift)(*above, 1, true),
		KERNEL_NAME(load)(kernel->above_right + at));
	ROW row = KERNEL_NAME(add)(*above,
	                           KERNEL_NAME(load)(kernel->above + at));

	row = KERNEL_NAME(least)(row, KERNEL_NAME(least)(left, right));
	row = KERNEL_NAME(least)(row, old);
	*above = row;
	if (!KERNEL_NAME(differ)(row, old))
		return false;
	*above = KERNEL_NAME(spread)(kernel, row, at);
	KERNEL_NAME(store)(kernel->cost + at, *above);
	return true;
}

INLINE bool
KERNEL_NAME(go_up)(struct kernel *kernel, size_t at, ROW *below)
{
	size_t next = at + KERNEL_PARTS;
	ROW old = KERNEL_NAME(load)(kernel->cost + at);
	ROW left = KERNEL_NAME(shift)(
		KERNEL_NAME(add)(*below, KERNEL_NAME(load)(kernel->above_left +
	                                                   next)),
		1, true);
	ROW right = KERNEL_NAME(shift)(
		KERNEL_NAME(add)(*below, KERNEL_NAME(load)(kernel->above_right +
	                                                   next)),
		1, false);
	ROW row = KERNEL_NAME(add)(*below,
	                           KERNEL_NAME(load)(kernel->above + next));

	row = KERNEL_NAME(least)(row, KERNEL_NAME(least)(left, right));
	row = KERNEL_NAME(least)(row, old);
	*below = row;
	if (!KERNEL_NAME(differ)(row, old))
		return false;
	*below = KERNEL_NAME(spread)(kernel, row, at);
	KERNEL_NAME(store)(kernel->cost + at, *below);
	return true;
}

/* Sweep down and up until nothing changes; the origin is in row `from`. */
KERNEL_TARGET static void
KERNEL_NAME(sweep)(struct kernel *kernel, uint32_t from)
{
	uint32_t height = kernel->window.height;
	size_t at = (size_t)from * KERNEL_PARTS;
	ROW row = KERNEL_NAME(spread)(
		kernel, KERNEL_NAME(load)(kernel->cost + at), at);
	bool first = true, changed;

	KERNEL_NAME(store)(kernel->cost + at, row);
	do {
		changed = first;
		first = false;
		row = KERNEL_NAME(load)(kernel->cost +
		                        (size_t)from * KERNEL_PARTS);
		for (uint32_t y = from + 1; y < height; y++)
			changed |= KERNEL_NAME(go_down)(
				kernel, (size_t)y * KERNEL_PARTS, &row);
		if (!changed)
			break;
		changed = false;
		for (uint32_t y = height - 1; y-- > 0;)
			changed |= KERNEL_NAME(go_up)(
				kernel, (size_t)y * KERNEL_PARTS, &row);
		from = 0;
	} while (changed);
}

#undef ROW
#undef INLINE
#undef EACH_PART
