/* fuzz_seeds.h: small levels to begin fuzzing with, of shapes that our own levels
 * in data/ do not have. Small ones are damaged where it matters, and fast. */
#ifndef TESTS_FUZZ_SEEDS_H
#define TESTS_FUZZ_SEEDS_H

struct fuzz_seed {
	const char *format, *text;
};

#define TMX_MAP(attributes, inside)                                            \
	"<?xml version=\"1.0\"?><map orientation=\"orthogonal\" "              \
	"width=\"3\" height=\"2\" tilewidth=\"8\" "                            \
	"tileheight=\"8\" " attributes ">" inside "</map>"
#define TMX_LAYER(name, data)                                                  \
	"<layer name=\"" name "\" width=\"3\" height=\"2\"><data " data        \
	"</data></layer>"
#define TMJ_MAP(attributes, inside)                                            \
	"{\"type\":\"map\",\"orientation\":\"orthogonal\",\"width\":3,"        \
	"\"height\":2,\"tilewidth\":8,\"tileheight\":8," attributes            \
	"\"layers\":[" inside "]}"
#define TMJ_LAYER(name, data)                                                  \
	"{\"type\":\"tilelayer\",\"name\":\"" name "\",\"width\":3,"           \
	"\"height\":2," data "}"
#define LDTK_LAYER(type, name, values)                                         \
	"{\"__type\":\"" type "\",\"__identifier\":\"" name "\",\"__cWid\":3," \
	"\"__cHei\":2,\"layerDefUid\":1,\"intGridCsv\":[" values "]}"

static const struct fuzz_seed fuzz_seeds[] = {
	{"pgm", "P2\n# gray\n3 2 # size\n9\n0 1 9\n8 7 6\n"},
	{"pgm",
         "P5 3 2 65535\n\001\002\003\004\005\006\007\010\011\012\013\014"},
	{"movingai", "type octile\nheight 2\nwidth 3\nmap\n.@T\nGSW\n"},
	{"movingai", "type octile\r\nwidth 2\r\nheight 1\r\nmap\r\nAP"},
	{"ros", "image: a.pgm\nresolution: 0.1\norigin: [0, 0, 0]\n"
                "negate: 1\nmode: scale\noccupied_thresh: 0.65\n"
                "free_thresh: 0.196\n"},
	{"ros", "{image: 'a b.png', mode: raw, negate: 0, "
                "occupied_thresh: 1, free_thresh: 0}"},
	{"tmx", TMX_MAP("infinite=\"1\"",
                        "<tileset firstgid=\"1\" source=\"a.tsx\"/>"
                        "<layer name=\"Ground\"><data encoding=\"csv\">"
                        "<chunk x=\"-3\" y=\"0\" width=\"3\" height=\"2\">"
                        "1,2,3,4,0,2147483649</chunk></data></layer>")},
	{"tmx",
         TMX_MAP("", "<tileset firstgid=\"1\" tilecount=\"2\"><tile id=\"1\">"
                     "<properties><property name=\"collides\" type=\"bool\" "
                     "value=\"true\"/></properties></tile></tileset>"
                     "<group name=\"g\">" TMX_LAYER(
			     "Ground", ">"
				       "<tile gid=\"1\"/><tile/>"
				       "<tile gid=\"2\"/><tile gid=\"2\"/>"
				       "<tile/><tile gid=\"1\"/>") "</group>")},
	{"tmx", TMX_MAP("", TMX_LAYER("collision",
                                      "encoding=\"base64\">"
                                      "AQAAAAAAAAACAAAAAAAAAAAAAAABAACA"))},
	{"tmj", TMJ_MAP("\"infinite\":true,",
                        "{\"type\":\"tilelayer\",\"name\":\"Ground\","
                        "\"chunks\":[{\"x\":-3,\"y\":0,\"width\":3,"
                        "\"height\":2,\"data\":[1,2,3,4,0,2147483649]}]}")},
	{"tmj", TMJ_MAP("\"tilesets\":[{\"firstgid\":1,\"source\":\"a.tsj\"},"
                        "{\"firstgid\":9,\"tiles\":[{\"id\":1,\"properties\":["
                        "{\"name\":\"collides\",\"type\":\"bool\","
                        "\"value\":true}]}]}],",
                        "{\"type\":\"group\",\"layers\":[" TMJ_LAYER(
				"Ground", "\"data\":[1,10,0,9,10,1]") "]}")},
	{"tmj", TMJ_MAP("", TMJ_LAYER("collision",
                                      "\"encoding\":\"base64\",\"data\":"
                                      "\"AQAAAAAAAAACAAAAAAAAAAAAAAABAACA\""))},
	{"ldtk", "{\"externalLevels\":true,\"defs\":{\"layers\":[]},"
                 "\"levels\":[{\"identifier\":\"A\",\"externalRelPath\":"
                 "\"a/A.ldtkl\",\"layerInstances\":null}]}"},
	{"ldtk",
         "{\"identifier\":\"A\",\"layerInstances\":[" LDTK_LAYER(
		 "Tiles", "Art", "") "," LDTK_LAYER("IntGrid", "Walls",
                                                    "0,1,2,0,0,1") "]}"},
	{"ldtk",
         "{\"defs\":{\"layers\":[{\"uid\":1,\"intGridValues\":[{"
         "\"value\":1,\"identifier\":\"wall\"}]}]},\"worlds\":[{"
         "\"levels\":[{\"identifier\":\"Vault\",\"layerInstances\":"
         "[" LDTK_LAYER("IntGrid", "Collisions", "0,1,2,0,0,1") "]}]}]}"},
};

#endif
