/* level_tmx.c: read Tiled's XML, maps (.tmx) and tilesets (.tsx).
 *
 * The elements that matter, and where they stand:
 *
 *     map             orientation width height infinite
 *       tileset       firstgid source
 *         tile        id
 *           properties
 *             property  name value
 *       layer         name width height
 *         data        encoding compression; text or tile elements
 *           chunk     x y width height; of infinite maps: as data
 *             tile    gid
 *       group         layers and groups
 *
 * A .tsx file is one tileset. Everything else is skipped. The text of data is
 * gathered as it is and decoded later, if its layer matters.
 *
 * Expat reads no other files unless it is told how. Documents that declare
 * entities are refused, so that no text is longer than it stands there; a mere
 * DOCTYPE is fine, older versions of Tiled wrote one. */
#include "formats/level_tiled.h"

#ifdef HAVE_EXPAT

#include <expat.h>
#include <stdio.h>
#include <string.h>

#define MAX_DEPTH 64u
#define MAX_PIECE ((size_t)1 << 28)

enum element {
	OTHER,
	DOCUMENT,
	MAP,
	TILESET,
	TILESET_TILE,
	PROPERTIES,
	PROPERTY,
	LAYER,
	DATA,
	CHUNK,
	TILE,
	GROUP
};

/* What an element is, by its name and the one it is in. */
static const struct {
	enum element parent;
	const char *name;
	enum element element;
} grammar[] = {
	{MAP, "tileset", TILESET},
	{TILESET, "tile", TILESET_TILE},
	{TILESET_TILE, "properties", PROPERTIES},
	{PROPERTIES, "property", PROPERTY},
	{MAP, "layer", LAYER},
	{MAP, "group", GROUP},
	{GROUP, "layer", LAYER},
	{GROUP, "group", GROUP},
	{LAYER, "data", DATA},
	{DATA, "chunk", CHUNK},
	{DATA, "tile", TILE},
	{CHUNK, "tile", TILE},
};
#define N_GRAMMAR (sizeof(grammar) / sizeof(grammar[0]))

struct reader {
	XML_Parser parser;
	struct tiled_map *map;
	struct diag *diag;
	enum diag_status st;
	enum element root; /* MAP or TILESET */
	enum element stack[MAX_DEPTH];
	size_t depth;
	bool has_chunk; /* data have somewhere to go */
	char encoding[16], compression[16];
	uint32_t first, tile; /* the tileset and its tile that is read */
};

static unsigned long
line_of(const struct reader *reader)
{
	return (unsigned long)XML_GetCurrentLineNumber(reader->parser);
}

static void
fail(struct reader *reader, enum diag_status st)
{
	reader->st = st;
	XML_StopParser(reader->parser, XML_FALSE);
}

/* The status of a call that has filled in the diag itself. */
static void
pass_on(struct reader *reader, enum diag_status st)
{
	if (st == DIAG_OK)
		return;
	if (reader->diag != reader->map->diag)
		*reader->diag = *reader->map->diag;
	fail(reader, st);
}

static const char *
attribute(const char **attributes, const char *name)
{
	for (; *attributes; attributes += 2)
		if (!strcmp(attributes[0], name))
			return attributes[1];
	return NULL;
}

/* A number from least to most; what is not there is `missing`. */
static int64_t
number(struct reader *reader, const char **attributes, const char *name,
       int64_t least, int64_t most, int64_t missing)
{
	const char *text = attribute(attributes, name);
	const char *digits, *digit;
	int64_t out = 0;

	if (!text)
		return missing;
	digits = text + (*text == '-');
	for (digit = digits; *digit >= '0' && *digit <= '9'; digit++)
		if (out <= UINT32_MAX)
			out = 10 * out + (*digit - '0');
	if (digits != text)
		out = -out;
	if (*digit || digit == digits || out < least || out > most) {
		fail(reader,
		     diag_set(reader->diag, DIAG_BAD_INPUT, line_of(reader),
		              "%s='%s' is not a number from %lld to %lld", name,
		              tiled_show(text).text, (long long)least,
		              (long long)most));
		return least;
	}
	return out;
}

static uint32_t
side(struct reader *reader, const char **attributes, const char *name,
     uint32_t missing)
{
	return (uint32_t)number(reader, attributes, name, 0, UINT32_MAX,
	                        missing);
}

static void
begin_map(struct reader *reader, const char **attributes)
{
	struct tiled_map *map = reader->map;

	pass_on(reader, tiled_set_orientation(
				map, attribute(attributes, "orientation"),
				line_of(reader)));
	if (reader->st != DIAG_OK)
		return;
	map->width = side(reader, attributes, "width", 0);
	map->height = side(reader, attributes, "height", 0);
	map->infinite = number(reader, attributes, "infinite", 0, 1, 0) != 0;
}

static void
begin_tileset(struct reader *reader, const char **attributes)
{
	/* A tileset file does not know where it begins in a map. */
	if (reader->root == TILESET)
		return;
	reader->first = (uint32_t)number(reader, attributes, "firstgid", 1,
	                                 UINT32_MAX, 1);
	pass_on(reader, tiled_add_tileset(reader->map, reader->first,
	                                  attribute(attributes, "source"),
	                                  line_of(reader)));
}

static void
begin_property(struct reader *reader, const char **attributes)
{
	const char *name = attribute(attributes, "name");
	const char *value = attribute(attributes, "value");

	if (name && value && tiled_is_true(value))
		pass_on(reader, tiled_add_property(reader->map, reader->first,
		                                   reader->tile, name));
}

static void
begin_layer(struct reader *reader, const char **attributes)
{
	const struct tiled_map *map = reader->map;
	const char *name = attribute(attributes, "name");
	uint32_t width = side(reader, attributes, "width", map->width);
	uint32_t height = side(reader, attributes, "height", map->height);

	if (reader->st == DIAG_OK)
		pass_on(reader,
		        tiled_add_layer(reader->map, name ? name : "", width,
		                        height, line_of(reader)));
}

static void
begin_chunk(struct reader *reader, struct tiled_place place)
{
	pass_on(reader, tiled_add_chunk(reader->map, place, reader->encoding,
	                                reader->compression, line_of(reader)));
	reader->has_chunk = reader->st == DIAG_OK;
}

static void
begin_data(struct reader *reader, const char **attributes)
{
	const struct tiled_map *map = reader->map;
	const struct tiled_layer *layer = &map->layers[map->n_layers - 1];
	const char *encoding = attribute(attributes, "encoding");
	const char *compression = attribute(attributes, "compression");

	snprintf(reader->encoding, sizeof(reader->encoding), "%s",
	         encoding ? encoding : "");
	snprintf(reader->compression, sizeof(reader->compression), "%s",
	         compression ? compression : "");
	reader->has_chunk = false;
	if (!map->infinite)
		begin_chunk(reader, (struct tiled_place){0, 0, layer->width,
		                                         layer->height});
}

static void
begin_chunk_element(struct reader *reader, const char **attributes)
{
	struct tiled_place place;

	if (!reader->map->infinite) {
		fail(reader,
		     diag_set(reader->diag, DIAG_BAD_INPUT, line_of(reader),
		              "a chunk in a map that is not infinite"));
		return;
	}
	place.x = (int32_t)number(reader, attributes, "x", INT32_MIN,
	                          INT32_MAX, 0);
	place.y = (int32_t)number(reader, attributes, "y", INT32_MIN,
	                          INT32_MAX, 0);
	place.width = side(reader, attributes, "width", 0);
	place.height = side(reader, attributes, "height", 0);
	if (reader->st == DIAG_OK)
		begin_chunk(reader, place);
}

static void
begin_tile(struct reader *reader, const char **attributes)
{
	uint32_t id = side(reader, attributes, "gid", 0);

	/* Beside text, tile elements would be taken for it. */
	if (reader->st == DIAG_OK && reader->has_chunk &&
	    reader->encoding[0] == '\0')
		pass_on(reader, tiled_add_tile(reader->map, id));
}

static enum element
find_element(const struct reader *reader, const char *name)
{
	enum element parent =
		reader->depth ? reader->stack[reader->depth - 1] : DOCUMENT;

	if (parent == DOCUMENT && reader->root == MAP && !strcmp(name, "map"))
		return MAP;
	if (parent == DOCUMENT && reader->root == TILESET &&
	    !strcmp(name, "tileset"))
		return TILESET;
	for (size_t i = 0; i < N_GRAMMAR; i++)
		if (grammar[i].parent == parent &&
		    !strcmp(grammar[i].name, name))
			return grammar[i].element;
	return OTHER;
}

static void
begin_known(struct reader *reader, enum element element,
            const char **attributes)
{
	switch (element) {
	case MAP:
		begin_map(reader, attributes);
		break;
	case TILESET:
		begin_tileset(reader, attributes);
		break;
	case TILESET_TILE:
		reader->tile = side(reader, attributes, "id", 0);
		break;
	case PROPERTY:
		begin_property(reader, attributes);
		break;
	case LAYER:
		begin_layer(reader, attributes);
		break;
	case DATA:
		begin_data(reader, attributes);
		break;
	case CHUNK:
		begin_chunk_element(reader, attributes);
		break;
	case TILE:
		begin_tile(reader, attributes);
		break;
	default:
		break;
	}
}

static void
on_begin(void *user, const char *name, const char **attributes)
{
	struct reader *reader = user;
	enum element element;

	/* A stopped parser may still call. */
	if (reader->st != DIAG_OK)
		return;
	element = find_element(reader, name);
	if (reader->depth == 0 && element == OTHER) {
		fail(reader,
		     diag_set(reader->diag, DIAG_BAD_INPUT, line_of(reader),
		              "not a Tiled %s: it begins with <%s>",
		              reader->root == MAP ? "map" : "tileset",
		              tiled_show(name).text));
		return;
	}
	if (reader->depth == MAX_DEPTH) {
		fail(reader,
		     diag_set(reader->diag, DIAG_BAD_INPUT, line_of(reader),
		              "elements are nested deeper than %u", MAX_DEPTH));
		return;
	}
	reader->stack[reader->depth++] = element;
	begin_known(reader, element, attributes);
}

static void
on_end(void *user, const char *name)
{
	struct reader *reader = user;

	(void)name;
	if (reader->st != DIAG_OK || reader->depth == 0)
		return;
	reader->depth--;
	if (reader->stack[reader->depth] == CHUNK)
		reader->has_chunk = false;
}

static void
on_text(void *user, const char *text, int size)
{
	struct reader *reader = user;
	enum element in = reader->depth ? reader->stack[reader->depth - 1]
	                                : DOCUMENT;

	if (reader->st == DIAG_OK && (in == DATA || in == CHUNK) &&
	    reader->has_chunk && reader->encoding[0] != '\0')
		pass_on(reader,
		        tiled_add_data(reader->map, text, (size_t)size));
}

static void
on_entity(void *user, const char *name, int is_parameter, const char *value,
          int value_size, const char *base, const char *system_id,
          const char *public_id, const char *notation)
{
	struct reader *reader = user;

	(void)is_parameter;
	(void)value;
	(void)value_size;
	(void)base;
	(void)system_id;
	(void)public_id;
	(void)notation;
	if (reader->st == DIAG_OK)
		fail(reader,
		     diag_set(reader->diag, DIAG_BAD_INPUT, line_of(reader),
		              "it declares an entity, '%s'; that is not "
		              "supported",
		              tiled_show(name).text));
}

static void
parse(struct reader *reader, const uint8_t *data, size_t size)
{
	enum XML_Status status;
	size_t piece;

	do {
		piece = size < MAX_PIECE ? size : MAX_PIECE;
		status = XML_Parse(reader->parser, (const char *)data,
		                   (int)piece, piece == size);
		data += piece;
		size -= piece;
	} while (size > 0 && status == XML_STATUS_OK);
	if (status == XML_STATUS_OK || reader->st != DIAG_OK)
		return;
	if (XML_GetErrorCode(reader->parser) == XML_ERROR_NO_MEMORY)
		reader->st = diag_set(reader->diag, DIAG_FAILED, 0,
		                      "out of memory");
	else
		reader->st = diag_set(
			reader->diag, DIAG_BAD_INPUT, line_of(reader),
			"not XML: %s",
			XML_ErrorString(XML_GetErrorCode(reader->parser)));
}

static enum diag_status
read_xml(struct reader *reader, const uint8_t *data, size_t size)
{
	static const uint8_t nothing = 0;

	reader->parser = XML_ParserCreate(NULL);
	if (!reader->parser)
		return diag_set(reader->diag, DIAG_FAILED, 0, "out of memory");
	XML_SetUserData(reader->parser, reader);
	XML_SetElementHandler(reader->parser, on_begin, on_end);
	XML_SetCharacterDataHandler(reader->parser, on_text);
	XML_SetEntityDeclHandler(reader->parser, on_entity);
	parse(reader, size ? data : &nothing, size);
	XML_ParserFree(reader->parser);
	return reader->st;
}

enum diag_status
tiled_read_tsx(struct tiled_map *map, uint32_t first, const uint8_t *data,
               size_t size, struct diag *diag)
{
	struct reader reader = {
		.map = map, .diag = diag, .root = TILESET, .first = first};

	return read_xml(&reader, data, size);
}

enum diag_status
tmx_read(const uint8_t *data, size_t size, const struct level_options *options,
         struct level *out, struct diag *diag)
{
	struct tiled_map map = {.options = options, .diag = diag};
	struct reader reader = {.map = &map, .diag = diag, .root = MAP};
	enum diag_status st;

	*out = (struct level){0};
	st = read_xml(&reader, data, size);
	if (st == DIAG_OK)
		st = tiled_make_level(&map, out);
	tiled_free(&map);
	return st;
}

#endif
