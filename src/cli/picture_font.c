/* picture_font.c: letters made of lines.
 *
 * A glyph is a text: lines with blanks between them, each a row of points, each
 * point two digits, x and y, counted from 0 to 9 and on from a to g. Capitals
 * reach from 0 down to the baseline at c, small letters begin at 4, and g is as
 * low as they go. A line of one point twice is a dot. A glyph is as wide as its
 * largest x. */
#include "src/cli/picture.h"

#include <stddef.h>

#define CAPITAL_HEIGHT 12 /* of the grid that glyphs are drawn on */
#define GAP 3             /* between two glyphs */
#define BLANK 3           /* a space is so wide, and has a gap too */

/* From ' ' on, in the order of ASCII. */
static const char *const glyphs[] = {
	"",
	"0008 0c0c",
	"0003 3033",
	"301c 705c 0484 0888",
	"72502002042656787a5c2c0a 404c",
	"800c 0020220200 6a8a8c6c6a",
	"8c13204052080a2c4c87",
	"0003",
	"3004093d",
	"0034390d",
	"3137 0256 5206",
	"454b 1878",
	"1b1c0e",
	"0858",
	"0c0c",
	"0d50",
	/* 0 to 9 */
	"2050727a5c2c0a0220",
	"02303c 0c6c",
	"02205072740c7c",
	"02205072745636 56787a5c2c0a",
	"5c500878",
	"60000555777a5c2c0a",
	"6030040a2c5c7a78562608",
	"00702c",
	"205072745626040220 26080a2c5c7a7856",
	"1c4c787250200204265674",
	/* : to @ */
	"0505 0c0c",
	"1515 1b1c0e",
	"64086c",
	"0666 0a6a",
	"04680c",
	"02204062643738 3c3c",
	"8a6c2c0a022060828868644435374868",
	/* A to Z */
	"0c408c 1979",
	"0c005072745606 56787a5c0c",
	"725020020a2c5c7a",
	"0c004073794c0c",
	"60000c6c 0656",
	"60000c 0656",
	"725020020a2c5c7a7747",
	"000c 707c 0676",
	"000c",
	"505a3c2c0a",
	"000c 7007 347c",
	"000c6c",
	"0c0047808c",
	"0c007c70",
	"2060828a6c2c0a0220",
	"0c005072755707",
	"2060828a6c2c0a0220 598c",
	"0c005072755707 477c",
	"72502002042656787a5c2c0a",
	"0080 404c",
	"000a2c5c7a70",
	"004c80",
	"002c538ca0",
	"007c 700c",
	"004680 464c",
	"00700c7c",
	/* [ to ` */
	"30000d3d",
	"005d",
	"00303d0d",
	"043064",
	"0e7e",
	"0022",
	/* a to z */
	"646c 664424060a2c4c6a",
	"000c 062444666a4c2c0a",
	"664424060a2c4c6a",
	"606c 664424060a2c4c6a",
	"0868664424060a2c5c",
	"5030212c 0444",
	"646e4g1g 664424060a2c4c6a",
	"000c 062444666c",
	"040c 0101",
	"242e0g 2121",
	"000c 5409 276c",
	"000a2c",
	"040c 062434565c 567484a6ac",
	"040c 062444666c",
	"2444666a4c2c0a0624",
	"040g 062444666a4c2c0a",
	"646g 664424060a2c4c6a",
	"040c 072444",
	"65541405071858696b5c1c0b",
	"212a4c5c 0454",
	"040a2c4c6a 646c",
	"043c64",
	"042c558ca4",
	"046c 640c",
	"043c 643c1g",
	"04640c6c",
	/* { to ~ */
	"4030212507272c3d4d",
	"000e",
	"0010212547272c1d0d",
	"09274967",
};

static const char unknown[] = "00707c0c00";

static int32_t
digit(char c)
{
	return c >= 'a' ? c - 'a' + 10 : c - '0';
}

/* The glyph of the character that begins here. Bytes inside of a UTF-8 sequence
 * have none: NULL. */
static const char *
glyph_of(const char *text)
{
	unsigned char c = (unsigned char)*text;

	if (c >> 6 == 2)
		return NULL;
	return c >= ' ' && c <= '~' ? glyphs[c - ' '] : unknown;
}

static int32_t
glyph_width(const char *glyph)
{
	int32_t width = *glyph ? 0 : BLANK;

	for (; *glyph; glyph += *glyph == ' ' ? 1 : 2)
		if (*glyph != ' ' && digit(*glyph) > width)
			width = digit(*glyph);
	return width;
}

int32_t
picture_text_length(int32_t size, const char *text)
{
	int32_t length = 0;

	for (; *text; text++) {
		const char *glyph = glyph_of(text);

		if (glyph)
			length += glyph_width(glyph) + GAP;
	}
	return length > 0 ? (length - GAP) * size / CAPITAL_HEIGHT : 0;
}

int32_t
picture_pen_width(int32_t size)
{
	return size * 2 / 13;
}

/* One glyph, `left` steps of the grid from x on. */
static void
add_glyph(struct picture *picture, int32_t x, int32_t y, int32_t size,
          int32_t left, const char *glyph)
{
	int32_t from_x = 0, from_y = 0;
	bool is_first = true;

	for (; *glyph; glyph += 2) {
		int32_t to_x, to_y;

		if (*glyph == ' ') {
			is_first = true;
			glyph++;
		}
		to_x = x + (left + digit(glyph[0])) * size / CAPITAL_HEIGHT;
		to_y = y + (digit(glyph[1]) - CAPITAL_HEIGHT) * size /
		                   CAPITAL_HEIGHT;
		if (!is_first)
			picture_add(picture, from_x, from_y, to_x, to_y);
		is_first = false;
		from_x = to_x;
		from_y = to_y;
	}
}

void
picture_add_letters(struct picture *picture, int32_t x, int32_t y, int32_t size,
                    const char *text)
{
	int32_t left = 0;

	for (; *text; text++) {
		const char *glyph = glyph_of(text);

		if (!glyph)
			continue;
		add_glyph(picture, x, y, size, left, glyph);
		left += glyph_width(glyph) + GAP;
	}
}
