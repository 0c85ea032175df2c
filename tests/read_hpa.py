#!/usr/bin/env python3
"""read_hpa.py: a second reader of .hpa files, which dumps what is in them.

Written from formats/hpa.md alone, to find out whether that page is enough; the
numbers in comments are its sections. What it prints is what `hpabake info
--dump` prints, see hpabake(1), so that the two readers can be compared.

    read_hpa.py FILE

It checks what it comes across on its way and not all that section 8 asks for.
"""
import struct
import sys
import zlib

NONE = 0xFFFFFFFF
MIXED = 0x80000000
MAGIC = b"\x89HPA\r\n\x1a\n"
STORED, ZLIB, PACKED = range(3)
PRUNED, PATHS, WEIGHTED = 1, 2, 4
RULES = ["8", "8-loose", "4"]
POLICIES = ["ends", "spread", "every"]
DIRECTIONS = ["E", "SE", "S", "SW", "W", "NW", "N", "NE"]
STEPS = [(1, 0), (1, 1), (0, 1), (-1, 1), (-1, 0), (-1, -1), (0, -1), (1, -1)]
STRAIGHT = [STEPS[d] for d in (0, 2, 4, 6)]  # E, S, W, N

# 3.7: id -> (is it critical, does each profile have its own)
SECTIONS = {
    "AGNT": (True, False),
    "TERR": (True, False),
    "LINK": (True, False),
    "FACT": (True, True),
    "CELL": (True, True),
    "COMP": (True, True),
    "NODE": (True, True),
    "INTR": (True, True),
    "LEVL": (True, True),
    "LEDG": (True, True),
    "REAC": (True, True),
    "CLUS": (True, True),
    "TABL": (True, False),
    "PATH": (False, False),
}
UNPACKED_IN_ORDER = ["CELL", "NODE", "INTR", "CLUS", "TABL"]  # 3.5


class Bad(Exception):
    """The file is not what the specification says."""


def need(holds, what):
    if not holds:
        raise Bad(what)


def u16(data, at):
    return struct.unpack_from("<H", data, at)[0]


def u32(data, at=0):
    return struct.unpack_from("<I", data, at)[0]


def u64(data, at):
    return struct.unpack_from("<Q", data, at)[0]


def u32s(data):
    need(len(data) % 4 == 0, "an array of u32 has a rest")
    return list(struct.unpack("<%dI" % (len(data) // 4), data))


def pack_u32s(numbers):
    return struct.pack("<%dI" % len(numbers), *numbers)


def ceil(a, b):
    return (a + b - 1) // b


def text(data):
    """Text, then zeros."""
    kept = data.rstrip(b"\0")
    need(all(0x20 <= byte < 0x7F for byte in kept), "a text is none")
    return kept.decode("ascii")


def continue_hash(h, data):
    """The hash of 3.6 over a piece of bytes."""
    padded = data + bytes(-len(data) % 8)
    for (word,) in [*struct.iter_unpack("<Q", padded), (len(data),)]:
        h = ((h ^ word) * 0x9E3779B97F4A7C15) & 0xFFFFFFFFFFFFFFFF
        h ^= h >> 32
    return h


def content_hash(sections):
    """Of pairs: the id and profile of a section, 8 bytes, and its raw bytes."""
    h = 0x6870612062616B65
    for head, raw in sections:
        h = continue_hash(continue_hash(h, head), raw)
    return h


class Section:
    """An entry of the section table (3.2)."""

    def __init__(self, data, at):
        self.id = text(data[at : at + 4])
        self.head = data[at : at + 4] + data[at + 36 : at + 40]
        self.flags, self.codec, self.align = struct.unpack_from(
            "<HBB", data, at + 4
        )
        self.offset, self.stored_size, self.raw_size = struct.unpack_from(
            "<QQQ", data, at + 8
        )
        self.crc, self.profile = struct.unpack_from("<II", data, at + 32)
        self.stored = data[self.offset : self.offset + self.stored_size]
        self.raw = None

    def inflate(self, blocks, size):
        """The blocks of codec 1 (3.4), which inflate to that many bytes."""
        block_size, n_blocks = struct.unpack_from("<II", blocks)
        need(n_blocks == ceil(size, block_size), "the number of blocks")
        begin = 8 + 4 * n_blocks
        ends = u32s(blocks[8:begin])
        out = b""
        last = 0
        for end in ends:
            out += zlib.decompress(blocks[begin + last : begin + end])
            last = end
        need(begin + last == len(blocks), "where the blocks end")
        need(len(out) == size, "a section inflates to another size")
        return out


class Container:
    """Header and sections, all of them raw (3)."""

    def __init__(self, data):
        self.read_header(data)
        self.read_table(data)
        for section in self.sections:
            if section.codec == STORED:
                section.raw = section.stored
            elif section.codec == ZLIB:
                section.raw = section.inflate(section.stored, section.raw_size)
        for name in UNPACKED_IN_ORDER:
            for section in sorted(self.sections, key=lambda s: s.profile):
                if section.codec == PACKED and section.id == name:
                    self.unpack(section)
        need(
            self.hashes[0]
            == content_hash((s.head, s.raw) for s in self.sections),
            "the content hash",
        )

    def read_header(self, data):
        need(data[:8] == MAGIC, "it does not begin with the magic")
        self.major, self.minor = struct.unpack_from("<HH", data, 8)
        need(self.major == 1, "its major version is %d" % self.major)
        need(u32(data, 12) == 88, "the size of the header")
        need(u64(data, 16) == len(data), "the size of the file")
        need(u32(data, 28) == 40, "the size of an entry")
        need(u32(data, 84) == zlib.crc32(data[:84]), "the header's CRC-32")
        self.n_sections = u32(data, 24)
        self.hashes = struct.unpack_from("<QQQ", data, 32)

    def read_table(self, data):
        table = data[88 : 88 + 40 * self.n_sections]
        need(u32(data, 80) == zlib.crc32(table), "the table's CRC-32")
        self.sections = []
        end = 88 + len(table)
        for i in range(self.n_sections):
            section = Section(data, 88 + 40 * i)
            begin = ceil(end, 1 << section.align) << section.align
            need(section.offset == begin, section.id + " is not in its place")
            need(not any(data[end:begin]), "padding before " + section.id)
            end = begin + section.stored_size
            need(
                section.crc == zlib.crc32(section.stored),
                section.id + "'s CRC-32",
            )
            critical = section.flags == 1
            if section.id in SECTIONS:
                need(critical == SECTIONS[section.id][0], section.id)
            else:
                need(not critical, "unknown and critical: " + section.id)
            self.sections.append(section)
        need(end == len(data), "the end of the file")

    def find(self, name, profile=0):
        """The raw bytes that a profile has by the rule of 3.2, or None."""
        best = None
        for section in self.sections:
            if section.id == name and section.profile <= profile:
                if best is None or section.profile > best.profile:
                    best = section
        return None if best is None else best.raw

    def must_find(self, name, profile=0):
        raw = self.find(name, profile)
        need(raw is not None, "there is no " + name)
        return raw

    def unpack(self, section):
        size = u32(section.stored)
        packed = Packed(section.inflate(section.stored[4:], size))
        profile = Profile(self, section.profile)
        unpack = {
            "CELL": unpack_cells,
            "NODE": unpack_nodes,
            "INTR": unpack_inter,
            "CLUS": unpack_clusters,
            "TABL": unpack_tables,
        }[section.id]
        section.raw = bytes(unpack(self, profile, packed, section.raw_size))
        need(packed.is_at_end(), section.id + " has packed bytes to spare")
        need(
            len(section.raw) == section.raw_size,
            section.id + " unpacks to another size",
        )


class Packed:
    """Bytes that are taken one after the other, and numbers in them (3.5)."""

    def __init__(self, data):
        self.data = data
        self.at = 0

    def is_at_end(self):
        return self.at == len(self.data)

    def byte(self):
        need(self.at < len(self.data), "packed bytes are missing")
        self.at += 1
        return self.data[self.at - 1]

    def number(self):
        number = shift = 0
        while True:
            byte = self.byte()
            number |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return number


class Level:
    """A level of a profile (5.6), and its arrays in CLUS (5.7)."""

    def __init__(self, profile, number, record):
        self.number = number
        self.size = profile.cluster_size << (number - 1)
        size, self.n_nodes, self.n_inter = struct.unpack_from("<III", record)
        self.n_intra, self.n_stored = struct.unpack_from("<QQ", record, 16)
        need(size == self.size, "the size of a level's clusters")
        self.clusters_x = ceil(profile.width, self.size)
        self.clusters_y = ceil(profile.height, self.size)
        self.n_clusters = self.clusters_x * self.clusters_y
        self.first = self.table = self.node = self.up = None

    def cluster_of(self, x, y):
        return y // self.size * self.clusters_x + x // self.size

    def node_of(self, rank):
        return rank if self.number == 1 else self.node[rank]

    def members(self, cluster):
        """The ids of a cluster's nodes."""
        return [
            self.node_of(rank)
            for rank in range(self.first[cluster], self.first[cluster + 1])
        ]


class Profile:
    """The level as one agent sees it. What is not there yet, while sections
    are unpacked, is found when it is asked for."""

    def __init__(self, container, number):
        self.container = container
        self.number = number
        self.agent = self.agent_terrain = ""
        agents = container.find("AGNT")
        if agents is not None:
            record = agents[256 * number : 256 * number + 256]
            self.agent = text(record[:32])
            self.agent_terrain = text(record[32:])
        fact = container.must_find("FACT", number)
        need(len(fact) == 64, "the size of FACT")
        (
            self.width,
            self.height,
            self.cluster_size,
            self.n_levels,
            self.rule,
            self.straight,
            self.diagonal,
            self.policy,
            self.parameter,
            self.flags,
            self.agent_size,
            self.n_nodes,
            self.n_components,
            self.min_factor,
            self.n_free,
        ) = struct.unpack("<14IQ", fact)
        self.stride = ceil(self.width, 8)
        self.levels = []

    def find(self, name):
        return self.container.must_find(name, self.number)

    def read_cells(self):
        self.cells = self.find("CELL")
        need(len(self.cells) == self.stride * self.height, "the size of CELL")

    def is_free(self, x, y):
        if not (0 <= x < self.width and 0 <= y < self.height):
            return False
        return bool(self.cells[y * self.stride + x // 8] >> x % 8 & 1)

    def read_nodes(self):
        raw = self.find("NODE")
        self.nodes = [
            struct.unpack_from("<HH", raw, at) for at in range(0, len(raw), 4)
        ]
        need(len(self.nodes) == self.n_nodes, "the size of NODE")

    def read_inter(self):
        numbers = u32s(self.find("INTR"))
        first, target = numbers[: self.n_nodes + 1], numbers[self.n_nodes + 1 :]
        self.inter = [
            target[first[i] : first[i + 1]] for i in range(self.n_nodes)
        ]

    def read_levels(self):
        raw = self.find("LEVL")
        self.levels = [
            Level(self, i + 1, raw[32 * i : 32 * i + 32])
            for i in range(self.n_levels)
        ]

    def read_clusters(self):
        numbers = u32s(self.find("CLUS"))
        at = 0

        def take(n):
            nonlocal at
            at += n
            return numbers[at - n : at]

        for level in self.levels:
            level.first = take(level.n_clusters + 1)
            level.table = take(level.n_clusters)
            if level.number > 1:
                level.node = take(level.n_nodes)
            if level.number < self.n_levels:
                level.up = take(level.n_nodes)
        need(at == len(numbers), "the size of CLUS")

    def read_all(self):
        self.read_cells()
        self.read_nodes()
        self.read_inter()
        self.read_levels()
        self.read_clusters()
        self.labels = u32s(self.find("COMP"))

    def window(self, cluster):
        """The cells of a level-1 cluster: x, y, width, height (4.1)."""
        size = self.cluster_size
        across = ceil(self.width, size)
        x, y = cluster % across * size, cluster // across * size
        return x, y, min(size, self.width - x), min(size, self.height - y)

    def octile(self, a, b):
        """Of two nodes, by their ids (2)."""
        dx = abs(self.nodes[a][0] - self.nodes[b][0])
        dy = abs(self.nodes[a][1] - self.nodes[b][1])
        s = 0 if self.rule == 2 else min(dx, dy)
        steps = self.diagonal * s + self.straight * (dx + dy - 2 * s)
        return steps * self.min_factor

    def component(self, x, y):
        """Of a free cell (5.3)."""
        size = self.cluster_size
        across = ceil(self.width, size)
        cluster = y // size * across + x // size
        label = self.labels[cluster]
        if label < MIXED:
            return label
        left, top, width, _ = self.window(cluster)
        n = 0
        for row in range(top, y + 1):
            last = x if row == y else left + width - 1
            for column in range(left, last + 1):
                before = column > left and self.is_free(column - 1, row)
                n += self.is_free(column, row) and not before
        n_clusters = across * ceil(self.height, size)
        return self.labels[n_clusters + label - MIXED + n - 1]

    def crossed(self, a, b):
        """The highest level at which two nodes' cells lie in different
        clusters; 0 if there is none."""
        n = 0
        for level in self.levels:
            if level.cluster_of(*self.nodes[a]) == level.cluster_of(
                *self.nodes[b]
            ):
                break
            n = level.number
        return n


# 3.5: each of these gives the raw bytes of a packed section.


def unpack_cells(container, profile, packed, raw_size):
    before = Profile(container, profile.number - 1)
    before.read_cells()
    n = profile.agent_size - before.agent_size
    need(n >= 0, "CELL is packed after a larger agent")
    raw = bytearray()
    for y in range(profile.height):
        row = bytearray(profile.stride)
        for x in range(profile.width):
            expected = all(
                before.is_free(x + i, y + k)
                for i in range(n + 1)
                for k in range(n + 1)
            )
            row[x // 8] |= expected << x % 8
        raw += bytes(byte ^ packed.byte() for byte in row)
    return raw


def unpack_nodes(container, profile, packed, raw_size):
    profile.read_cells()
    size = profile.cluster_size
    n_clusters = ceil(profile.width, size) * ceil(profile.height, size)
    are_nodes = set()
    raw = bytearray()
    for cluster in range(n_clusters):
        left, top, width, height = profile.window(cluster)
        places = [
            (left + i % width, top + i // width) for i in range(width * height)
        ]
        here = {
            (x, y)
            for x, y in places
            if profile.is_free(x, y)
            and (
                (x == left and (x - 1, y) in are_nodes)
                or (y == top and (x, y - 1) in are_nodes)
            )
        }
        place = 0
        for _ in range(packed.number()):
            place += packed.number()
            need(place < len(places), "a place outside of its cluster")
            here ^= {places[place]}
            place += 1
        for cell in places:
            if cell in here:
                raw += struct.pack("<HH", *cell)
        are_nodes |= here
    return raw


def unpack_inter(container, profile, packed, raw_size):
    profile.read_nodes()
    size = profile.cluster_size
    id_of = {cell: i for i, cell in enumerate(profile.nodes)}
    first, target = [0], []
    for x, y in profile.nodes:
        differs = packed.byte()
        for d, (dx, dy) in enumerate(STRAIGHT):
            to = (x + dx, y + dy)
            expected = to in id_of and (
                to[0] // size != x // size or to[1] // size != y // size
            )
            if expected != bool(differs >> d & 1):
                need(to in id_of, "an inter-edge to no node")
                target.append(id_of[to])
        first.append(len(target))
    return pack_u32s(first + target)


def unpack_clusters(container, profile, packed, raw_size):
    profile.read_nodes()
    profile.read_inter()
    profile.read_levels()
    everywhere, node = set(), 0
    for _ in range(packed.number()):
        node += packed.number()
        everywhere.add(node)
        node += 1
    top = [
        profile.n_levels
        if node in everywhere
        else max([profile.crossed(node, to) for to in edges], default=0)
        for node, edges in enumerate(profile.inter)
    ]
    for level in profile.levels:
        rank_nodes(profile, level, top)
    unpack_offsets(container, profile, packed)
    raw = bytearray()
    for level in profile.levels:
        raw += pack_u32s(level.first + level.table)
        if level.number > 1:
            raw += pack_u32s(level.node)
        if level.number < profile.n_levels:
            above = {
                id: rank
                for rank, id in enumerate(profile.levels[level.number].node)
            }
            raw += pack_u32s([above.get(id, NONE) for id in level.node])
    return raw


def rank_nodes(profile, level, top):
    """The nodes of a level, in the order of their ranks (4.3)."""
    level.node = sorted(
        (id for id in range(profile.n_nodes) if level.number <= max(top[id], 1)),
        key=lambda id: (level.cluster_of(*profile.nodes[id]), id),
    )
    need(len(level.node) == level.n_nodes, "a level's number of nodes")
    level.first = [0] * (level.n_clusters + 1)
    for id in level.node:
        level.first[level.cluster_of(*profile.nodes[id]) + 1] += 1
    for cluster in range(level.n_clusters):
        level.first[cluster + 1] += level.first[cluster]


def unpack_offsets(container, profile, packed):
    """Where the tables of each cluster are."""
    tables = []  # of all clusters before, counted through (4.1)
    for number in range(profile.number):
        earlier = Profile(container, number)
        earlier.read_levels()
        earlier.read_clusters()
        for level in earlier.levels:
            tables += level.table
    next_new = 4 * packed.number()
    for level in profile.levels:
        begin = len(tables)
        for _ in range(level.n_clusters):
            n_back = packed.number()
            if n_back == 0:
                tables.append(next_new)
                next_new += 4 * packed.number()
            else:
                need(n_back <= len(tables), "a table of no cluster")
                tables.append(tables[-n_back])
        level.table = tables[begin:]


def unpack_tables(container, profile, packed, raw_size):
    raw = bytearray()
    last_paths = owner = 0
    for profile in read_profiles(container):
        for level in profile.levels:
            for cluster in range(level.n_clusters):
                if level.table[cluster] == len(raw):
                    last_paths = unpack_table(
                        profile, level, cluster, owner, packed, last_paths, raw
                    )
                owner += 1
    return raw


def unpack_table(profile, level, cluster, owner, packed, last_paths, raw):
    """Append a table (5.8); returns where its cached paths are, or those of
    the last table that has some."""
    ids = level.members(cluster)
    rows = [{} for _ in ids]
    for i in range(len(ids)):
        to = i
        for _ in range(packed.number()):
            token = packed.number()
            to += token // 2 + 1
            need(to < len(ids), "an edge to no node")
            weight = profile.octile(ids[i], ids[to])
            weight += packed.number() if token & 1 else 0
            rows[i][to] = rows[to][i] = weight
    edges = [(to, row[to]) for row in rows for to in sorted(row)]
    paths = NONE
    if profile.flags & PATHS and level.number == 1 and edges:
        paths = last_paths = last_paths + packed.number()
    wide = len(ids) > 255 or any(weight > 65535 for _, weight in edges)
    raw += struct.pack("<IHHI", paths, len(ids), wide, owner)
    end = 0
    for row in rows:
        end += len(row)
        raw += struct.pack("<I" if wide else "<H", end)
    for _, weight in edges:
        raw += struct.pack("<I" if wide else "<H", weight)
    for to, _ in edges:
        raw += struct.pack("<H" if wide else "<B", to)
    raw += bytes(-len(raw) % 4)
    return last_paths


def read_profiles(container):
    """All profiles, as far as NODE, LEVL and CLUS."""
    agents = container.find("AGNT")
    profiles = []
    for number in range(1 if agents is None else len(agents) // 256):
        profile = Profile(container, number)
        profile.read_nodes()
        profile.read_levels()
        profile.read_clusters()
        profiles.append(profile)
    return profiles


class Table:
    """A table of TABL (5.8): each row has pairs of target and weight, with the
    number of the edge."""

    def __init__(self, tables, at):
        self.paths, n, wide, _ = struct.unpack_from("<IHHI", tables, at)
        at += 12
        ends = self.take(tables, at, n, "I" if wide else "H")
        at += n * (4 if wide else 2)
        m = ends[-1] if ends else 0
        weights = self.take(tables, at, m, "I" if wide else "H")
        at += m * (4 if wide else 2)
        targets = self.take(tables, at, m, "H" if wide else "B")
        self.rows = []
        begin = 0
        for end in ends:
            self.rows.append(
                [(e, targets[e], weights[e]) for e in range(begin, end)]
            )
            begin = end

    @staticmethod
    def take(tables, at, n, kind):
        return struct.unpack_from("<%d%s" % (n, kind), tables, at)


# The dump, in the words of hpabake(1).


def dash(word):
    return word if word else "-"


def stretches(values):
    """Maximal stretches of equal values that are not None."""
    out = []
    begin = 0
    for i in range(1, len(values) + 1):
        if i == len(values) or values[i] != values[begin]:
            if values[begin] is not None:
                out.append("%d-%d:%d" % (begin, i - 1, values[begin]))
            begin = i
    return out


def dump_line(*words):
    print(" ".join(str(word) for word in words))


def dump_terrain(container, width, height):
    raw = container.find("TERR")
    if raw is None:
        return
    n_classes, log2 = struct.unpack_from("<II", raw)
    bits = 1 << log2
    for i in range(n_classes):
        record = raw[8 + 36 * i : 8 + 36 * i + 36]
        dump_line("class", i, u32(record, 32), dash(text(record[:32])))
    rows = raw[8 + 36 * n_classes :]
    stride = ceil(width * bits, 8)
    for y in range(height):
        row = rows[y * stride : y * stride + stride]
        classes = [
            row[x * bits // 8] >> x * bits % 8 & (1 << bits) - 1
            for x in range(width)
        ]
        dump_line("terrain", y, *stretches(classes))


def dump_links(container):
    raw = container.find("LINK") or b""
    for i in range(len(raw) // 48):
        record = raw[48 * i : 48 * i + 48]
        x1, y1, x2, y2, cost, flags = struct.unpack_from("<HHHHII", record)
        way = "one-way" if flags & 1 else "two-way"
        name = dash(text(record[16:]))
        dump_line("link", i, x1, y1, x2, y2, cost, way, name)


def dump_reach(container, number):
    if container.find("LINK") is None:
        return
    raw = container.must_find("REAC", number)
    n = u32(raw)
    components = u32s(raw[4 : 4 + 4 * n])
    rows = raw[4 + 4 * n :]
    stride = ceil(n, 8)
    for i in range(n):
        reached = [
            components[k]
            for k in range(n)
            if k != i and rows[i * stride + k // 8] >> k % 8 & 1
        ]
        dump_line("reach", components[i], *reached)


def dump_cells(profile):
    """Each row's stretches of free cells with their components. A stretch has
    one component, so it is looked up once."""
    for y in range(profile.height):
        values = [None] * profile.width
        for x in range(profile.width):
            if profile.is_free(x, y):
                beside = values[x - 1] if x > 0 else None
                values[x] = (
                    profile.component(x, y) if beside is None else beside
                )
        dump_line("row", y, *stretches(values))


def dump_nodes(container, profile):
    for id, (x, y) in enumerate(profile.nodes):
        dump_line("node", id, x, y)
    for id, edges in enumerate(profile.inter):
        for to in edges:
            if to > id:
                dump_line("inter", id, to)
    if container.find("LINK") is not None:
        numbers = u32s(container.must_find("LEDG", profile.number))
        for i in range(0, len(numbers), 3):
            dump_line("jump", *numbers[i : i + 3])


def path_words(profile, paths, table, edge, a, b):
    """The runs of a cached path (5.9)."""
    at = table.paths + u32(paths, table.paths + 4 * edge)
    x, y = profile.nodes[a]
    words = []
    while (x, y) != profile.nodes[b]:
        direction, length = paths[at] & 7, (paths[at] >> 3) + 1
        x += length * STEPS[direction][0]
        y += length * STEPS[direction][1]
        words.append("%s%d" % (DIRECTIONS[direction], length))
        at += 1
    return words


def dump_level(profile, level, tables, paths):
    dump_line(
        "abstract",
        level.number,
        level.size,
        level.n_nodes,
        level.n_inter,
        level.n_intra,
        level.n_stored,
    )
    for cluster in range(level.n_clusters):
        ids = level.members(cluster)
        dump_line("cluster", level.number, cluster, *ids)
        table = Table(tables, level.table[cluster])
        need(len(table.rows) == len(ids), "a table's number of nodes")
        for i, row in enumerate(table.rows):
            for edge, to, weight in row:
                if to < i:
                    continue
                words = []
                if paths is not None and table.paths != NONE:
                    words = path_words(
                        profile, paths, table, edge, ids[i], ids[to]
                    )
                dump_line("edge", level.number, ids[i], ids[to], weight, *words)


def dump_profile(container, profile):
    profile.read_all()
    dump_line(
        "profile",
        profile.number,
        dash(profile.agent),
        profile.agent_size,
        dash(profile.agent_terrain),
    )
    dump_line(
        "facts",
        profile.cluster_size,
        profile.n_levels,
        POLICIES[profile.policy],
        profile.parameter,
        "pruned" if profile.flags & PRUNED else "-",
        "paths" if profile.flags & PATHS else "-",
        profile.n_free,
        profile.n_components,
        profile.min_factor,
    )
    dump_cells(profile)
    dump_nodes(container, profile)
    dump_reach(container, profile.number)
    tables, paths = container.must_find("TABL"), container.find("PATH")
    for level in profile.levels:
        dump_level(profile, level, tables, paths)


def dump(data):
    container = Container(data)
    profiles = read_profiles(container)
    first = profiles[0]
    dump_line("hpa", "%d.%d" % (container.major, container.minor))
    dump_line("hashes", *("%016x" % hash for hash in container.hashes))
    dump_line(
        "level",
        first.width,
        first.height,
        RULES[first.rule],
        first.straight,
        first.diagonal,
    )
    dump_terrain(container, first.width, first.height)
    dump_links(container)
    for profile in profiles:
        dump_profile(container, profile)


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: read_hpa.py FILE")
    with open(sys.argv[1], "rb") as file:
        data = file.read()
    try:
        dump(data)
    except (Bad, struct.error, zlib.error, IndexError) as error:
        sys.exit("read_hpa.py: %s: %s" % (sys.argv[1], error))


if __name__ == "__main__":
    main()
