/* many_relax.h: the loop of many.c, for one instruction set. A template, with
 *
 *     MANY_NAME(name)    name made unique
 *     MANY_TARGET        attributes of the function
 *     RELAX(to, offer)   make *to the lesser of the two; has it changed? */

/* Offer a node's distances to those it has edges to. */
MANY_TARGET static bool
MANY_NAME(pass_on)(const struct many_graph *graph, uint32_t node,
                   many_vector *distance, uint8_t *changed)
{
	const struct many_edge *edge = graph->edges + graph->first_edge[node];
	const struct many_edge *end =
		graph->edges + graph->first_edge[node + 1];
	many_vector own = distance[node];
	uint8_t any = 0;

	changed[node] = 0;
	for (; edge < end; edge++) {
		many_vector offer = own + (int32_t)edge->cost;
		uint8_t lower = RELAX(&distance[edge->to], offer);

		changed[edge->to] |= lower;
		any |= lower;
	}
	return any != 0;
}

MANY_TARGET static void
MANY_NAME(settle)(const struct many_graph *graph, many_vector *distance,
                  uint8_t *changed)
{
	bool again = true;

	while (again) {
		again = false;
		for (uint32_t i = 0; i < graph->n_nodes; i++)
			if (changed[i])
				again |= MANY_NAME(pass_on)(graph, i, distance,
				                            changed);
		for (uint32_t i = graph->n_nodes; i-- > 0;)
			if (changed[i])
				again |= MANY_NAME(pass_on)(graph, i, distance,
				                            changed);
	}
}
