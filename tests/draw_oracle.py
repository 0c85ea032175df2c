"""draw_oracle.py: look at pictures that `hpabake draw` made.

Reads PNG and SVG by itself, with nothing but python's own modules, and takes
what has to be in the picture from the level and from other verbs. A picture
that is not as it should be ends the program with a message.

    same A.png B.png                   the same pixels
    cells LEVEL.map FILE.hpa           floor and walls, in both kinds
    graph FILE.hpa                     nodes and edges of every level
    paths FILE.hpa X1,Y1,X2,Y2...      paths, in both kinds
    heat FILE.hpa SCEN                 the colours of clusters
    text TITLE PICTURE.svg             it is XML, and has this title
"""
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree
import zlib

HPABAKE = os.environ.get("HPABAKE", "hpabake")
SCALE = 8


def run(*arguments):
    done = subprocess.run(
        [HPABAKE, *arguments], check=True, stdout=subprocess.PIPE
    )
    return done.stdout.decode()


def draw(file, suffix, *options):
    out = "look" + suffix
    run("draw", file, "-o", out, "--scale", str(SCALE), *options)
    return out


def paeth(a, b, c):
    p = a + b - c
    return min((abs(p - a), 0, a), (abs(p - b), 1, b), (abs(p - c), 2, c))[2]


def unfilter(kind, line, above):
    for i, byte in enumerate(line):
        a = line[i - 3] if i >= 3 else 0
        c = above[i - 3] if i >= 3 else 0
        guess = (0, a, above[i], (a + above[i]) // 2, paeth(a, above[i], c))
        line[i] = byte + guess[kind] & 255


def read_png(name):
    """Rows of pixels, each three bytes."""
    data = open(name, "rb").read()
    assert data[:8] == b"\x89PNG\r\n\x1a\n", "the signature"
    at, idat = 8, b""
    while at < len(data):
        size = int.from_bytes(data[at : at + 4], "big")
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + size]
        crc = int.from_bytes(data[at + 8 + size : at + 12 + size], "big")
        assert crc == zlib.crc32(kind + body), "a checksum"
        if kind == b"IHDR":
            width = int.from_bytes(body[:4], "big")
            height = int.from_bytes(body[4:8], "big")
            assert body[8:] == b"\x08\x02\0\0\0", "8 bits, RGB, no interlacing"
        if kind == b"IDAT":
            idat += body
        at += 12 + size
    raw, rows, above = zlib.decompress(idat), [], bytearray(3 * width)
    assert len(raw) == height * (3 * width + 1), "the number of bytes"
    for y in range(height):
        begin = y * (3 * width + 1)
        line = bytearray(raw[begin + 1 : begin + 1 + 3 * width])
        if raw[begin]:
            unfilter(raw[begin], line, above)
        rows.append([bytes(line[i : i + 3]) for i in range(0, 3 * width, 3)])
        above = line
    return rows


def read_svg(name):
    return xml.etree.ElementTree.parse(name).getroot()


def tag(element):
    return element.tag.replace("{http://www.w3.org/2000/svg}", "")


def colour(element, what):
    return bytes.fromhex(element.get(what)[1:])


def svg_cells(root):
    """The colour of each cell, by the rectangles of the first group."""
    group = next(e for e in root if tag(e) == "g")
    ground = group[0]
    width, height = int(ground.get("width")), int(ground.get("height"))
    cells = [[colour(ground, "fill")] * width for _ in range(height)]
    for path in group[1:]:
        for rect in re.findall(
            r"M(\d+) (\d+)h(\d+)v(\d+)h-(\d+)z", path.get("d")
        ):
            x, y, w, h, back = map(int, rect)
            assert w == back and w > 0 and h > 0, "a rectangle"
            for row in cells[y : y + h]:
                assert len(row[x : x + w]) == w, "it lies in the level"
                row[x : x + w] = [colour(path, "fill")] * w
    return cells


def svg_lines(root):
    """Of each path of strokes: its colour, width, and lines as x, y, x, y."""
    shapes = []
    for path in root.iter():
        if path.get("class") != "s":
            continue
        lines, last = [], None
        for kind, x, y in re.findall(
            r"([ML])(-?[\d.]+) (-?[\d.]+)", path.get("d")
        ):
            point = float(x), float(y)
            if kind == "L":
                lines.append((last, point))
            last = point
        width = float(path.get("stroke-width"))
        shapes.append((colour(path, "stroke"), width, lines))
    return shapes


def middle(cell):
    return (cell + 0.5) * SCALE


def read_map(name):
    return open(name).read().split("\n")[4:]


def check_cells(level, file):
    """Without other layers a picture is the level: two colours, no more."""
    rows = read_map(level)
    png = read_png(draw(file, ".png", "--layers", "paths"))
    svg = svg_cells(read_svg(draw(file, ".svg", "--layers", "paths")))
    floor, wall = bytes.fromhex("f7f4ed"), bytes.fromhex("3b4252")
    width = len(svg[0])
    assert len(png) == len(svg) * SCALE and len(png[0]) == width * SCALE
    for y, row in enumerate(svg):
        expected = [floor if cell in ".GS" else wall for cell in rows[y][:width]]
        assert row == expected, f"SVG, row {y}"
        wide = [pixel for pixel in expected for _ in range(SCALE)]
        for line in png[y * SCALE : (y + 1) * SCALE]:
            assert line == wide, f"PNG, row {y}"


def check_graph(file):
    for level in json.loads(run("info", "--json", file))["levels"]:
        number = str(level["level"])
        options = ["--level", number, "--layers"]
        nodes = svg_lines(read_svg(draw(file, ".svg", *options, "nodes")))
        dots = [line for _, _, lines in nodes for line in lines]
        assert all(start == end for start, end in dots), "nodes are dots"
        assert len(set(dots)) == len(dots) == level["nodes"], "all nodes"
        edges = svg_lines(read_svg(draw(file, ".svg", *options, "edges")))
        counts = [len(lines) for _, _, lines in edges] or [0, 0]
        assert counts == [level["stored_edges"], level["inter_edges"]], "edges"
        places = {start for start, _ in dots}
        ends = {end for _, _, lines in edges for line in lines for end in line}
        assert ends == places, "edges lead from node to node, and to all"
        size = level["cluster_size"] * SCALE
        intra, inter = [lines for _, _, lines in edges] or [[], []]
        for (x1, y1), (x2, y2) in intra:
            assert (x1 // size, y1 // size) == (x2 // size, y2 // size)
        for (x1, y1), (x2, y2) in inter:
            assert (x1 // size, y1 // size) != (x2 // size, y2 // size)
            assert abs(x1 - x2) + abs(y1 - y2) == SCALE, "a step"
        check_dots(draw(file, ".png", *options, "nodes"), nodes)


def check_dots(name, shapes):
    png = read_png(name)
    for rgb, _, lines in shapes:
        for (x, y), _ in lines:
            assert png[int(y)][int(x)] == rgb, f"PNG has a node at {x}, {y}"


def check_paths(file, paths):
    options = ["--layers", "paths"]
    for path in paths:
        options += ["--path", path]
    shapes = svg_lines(read_svg(draw(file, ".svg", *options)))
    png = read_png(draw(file, ".png", *options))
    for i, path in enumerate(paths):
        answer = run("path", file, *path.split(","), "--cells").split("\t")
        cells = [tuple(map(int, c.split(","))) for c in answer[4].split()]
        rgb, width, lines = shapes[len(paths) + i]
        assert SCALE / 4 <= width <= SCALE
        walked = walk(lines)
        assert walked == cells, f"path {path}"
        # Markers are on top: a ring, a disc and a hole, then a ring and a disc.
        markers = shapes[2 * len(paths) + 5 * i :][:5]
        dots = [markers[0][2], markers[4][2]]
        for cell, dot in zip((cells[0], cells[-1]), dots):
            place = middle(cell[0]), middle(cell[1])
            assert dot == [(place, place)], "a marker"
        covers = {shape[0] for shape in shapes[len(paths) + i + 1 :]}
        for x, y in cells:
            x, y = int(middle(x)), int(middle(y))
            around = {png[y + dy][x + dx] for dx in (0, -1) for dy in (0, -1)}
            assert around & (covers | {rgb}), f"PNG, {path} at {x},{y}"


def walk(lines):
    """The cells on lines from middle to middle."""
    cells = []
    for (x1, y1), (x2, y2) in lines:
        x, y = int(x1 // SCALE), int(y1 // SCALE)
        end = int(x2 // SCALE), int(y2 // SCALE)
        if not cells:
            cells.append((x, y))
        assert cells[-1] == (x, y), "lines go on where the last one ended"
        while (x, y) != end:
            x += (end[0] > x) - (end[0] < x)
            y += (end[1] > y) - (end[1] < y)
            cells.append((x, y))
    return cells


def check_heat(file, scen):
    """Clusters that as many paths cross have one colour, those that more cross
    a darker one, and those that none crosses the floor's."""
    size = json.loads(run("info", "--json", file))["levels"][0]["cluster_size"]
    counts = {}
    for line in run("path", file, "--scen", scen, "--cells").splitlines():
        fields = line.split("\t")
        cells = fields[4].split() if fields[1] == "ok" else []
        clusters = {
            tuple(int(number) // size for number in cell.split(","))
            for cell in cells
        }
        for cluster in clusters:
            counts[cluster] = counts.get(cluster, 0) + 1
    options = ["--heat", scen, "--level", "1", "--layers", "paths"]
    cells = svg_cells(read_svg(draw(file, ".svg", *options)))
    png = read_png(draw(file, ".png", *options))
    wall, floor = bytes.fromhex("3b4252"), bytes.fromhex("f7f4ed")
    colours = {}
    for y, row in enumerate(cells):
        for x, cell in enumerate(row):
            assert png[y * SCALE][x * SCALE] == cell, "PNG is like SVG"
            if cell != wall:
                heat = counts.get((x // size, y // size), 0)
                colours.setdefault(heat, set()).add(cell)
    assert colours.pop(0, {floor}) == {floor}, "no path, no colour"
    assert all(len(shades) == 1 for shades in colours.values()), "one each"
    shades = [sum(colours[heat].pop()) for heat in sorted(colours)]
    assert shades == sorted(shades, reverse=True), "more is darker"
    assert shades[-1] < shades[0], "there is a scale"
    text = [e.text for e in read_svg(
        draw(file, ".svg", "--heat", scen, "--level", "1")).iter()
        if tag(e) == "text"]
    n = len(open(scen).read().split("\n")) - 2
    assert any(
        re.match(f"{max(counts.values())} of the {n} paths", t) for t in text
    ), "the legend"


def check_text(title, name):
    root = read_svg(name)
    assert next(e for e in root if tag(e) == "title").text == title
    assert title in [e.text for e in root if tag(e) == "text"]


def check_same(a, b):
    if open(a, "rb").read() == open(b, "rb").read():
        return
    assert read_png(a) == read_png(b), f"{a} and {b} differ"


CHECKS = {
    "same": check_same,
    "cells": check_cells,
    "graph": check_graph,
    "paths": lambda file, *paths: check_paths(file, paths),
    "heat": check_heat,
    "text": check_text,
}
CHECKS[sys.argv[1]](*sys.argv[2:])
