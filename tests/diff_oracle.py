"""diff_oracle.py HPABAKE FOLDER SEED ROUNDS: what `hpabake diff` says of two
levels is what comparing them cell by cell and pair by pair gives.

A level is random, the other one the same with some cells opened and closed, and
in half of the rounds there are links. Every pair of cells that are free in both
is looked at by a search from one to the other. A round that is not as it should
be is told with the two levels, and ends the program.
"""
import json
import random
import subprocess
import sys

HPABAKE, FOLDER = sys.argv[1:3]


def random_level(rng):
    width, height = rng.randint(1, 24), rng.randint(1, 18)
    percent = rng.choice((20, 40, 50, 60))
    return [
        ["@" if rng.randrange(100) < percent else "." for _ in range(width)]
        for _ in range(height)
    ]


def change(rng, rows):
    changed = [list(row) for row in rows]
    for _ in range(rng.choice((0, 1, 3, 10, 40))):
        row = rng.choice(changed)
        x = rng.randrange(len(row))
        row[x] = "@" if row[x] == "." else "."
    return changed


def free_cells(rows):
    return [
        (x, y)
        for y, row in enumerate(rows)
        for x, cell in enumerate(row)
        if cell == "."
    ]


def random_links(rng, rows, other):
    both = sorted(set(free_cells(rows)) & set(free_cells(other)))
    links = []
    while len(both) > 1 and rng.random() < 0.7:
        start, end = rng.sample(both, 2)
        links.append((start, end, rng.random() < 0.7))
    return links


def reach(rows, links):
    """For each free cell, the cells that a way leads to. A diagonal step needs
    both cells beside it, so straight ones are enough."""
    free = set(free_cells(rows))
    steps = {cell: [] for cell in free}
    for x, y in free:
        for to in ((x + 1, y), (x - 1, y), (x, y + 1), (x, y - 1)):
            if to in free:
                steps[x, y].append(to)
    for start, end, one_way in links:
        steps[start].append(end)
        if not one_way:
            steps[end].append(start)
    reached = {}
    for cell in free:
        seen, todo = {cell}, [cell]
        while todo:
            for to in steps[todo.pop()]:
                if to not in seen:
                    seen.add(to)
                    todo.append(to)
        reached[cell] = seen
    return reached


def write(name, rows):
    with open(f"{FOLDER}/{name}.map", "w") as out:
        out.write(f"type octile\nheight {len(rows)}\nwidth {len(rows[0])}\nmap\n")
        for row in rows:
            out.write("".join(row) + "\n")


def bake(name, rows, links, size):
    write(name, rows)
    command = [HPABAKE, "bake", "-q", f"{FOLDER}/{name}.map"]
    command += ["--cluster-size", str(size), "-o", f"{FOLDER}/{name}.hpa"]
    if links:
        with open(f"{FOLDER}/links", "w") as out:
            for (x1, y1), (x2, y2), one_way in links:
                way = "one-way" if one_way else "two-way"
                out.write(f"{x1} {y1} {x2} {y2} 3 {way}\n")
        command += ["--links", f"{FOLDER}/links"]
    subprocess.run(command, check=True)


def cells_of(cells):
    if not cells:
        return {"cells": 0}
    xs, ys = [x for x, _ in cells], [y for _, y in cells]
    return {"cells": len(cells), "box": [min(xs), min(ys), max(xs), max(ys)]}


def count_lost(before, after):
    """Pairs of which one can't reach the other any more."""
    both = sorted(set(before) & set(after))
    return sum(
        1
        for i, a in enumerate(both)
        for b in both[:i]
        if (b in before[a] and b not in after[a])
        or (a in before[b] and a not in after[b])
    )


def regions(before, after):
    """Of each region before, the sizes and first cells of its pieces after,
    where there are several. A region is of cells that reach each other."""
    both = sorted(set(before) & set(after), key=lambda cell: (cell[1], cell[0]))

    def region(reached, cell):
        return frozenset(to for to in reached[cell] if cell in reached[to])

    pieces = {}
    for cell in both:
        key = region(before, cell)
        pieces.setdefault(key, {}).setdefault(region(after, cell), []).append(cell)
    found = []
    for parts in pieces.values():
        if len(parts) > 1:
            sizes = [(-len(part), part[0][::-1]) for part in parts.values()]
            found.append(sorted(sizes))
    return found


def check_regions(told, expected):
    assert told["n_regions"] == len(expected), "the number of regions"
    assert len(told["regions"]) == min(len(expected), 4), "the regions"
    known = [
        (sum(-n for n, _ in parts), len(parts), parts) for parts in expected
    ]
    for region in told["regions"]:
        pieces = [(-p["cells"], tuple(p["at"])[::-1]) for p in region["pieces"]]
        assert any(
            region["cells"] == n
            and region["n_pieces"] == count
            and set(pieces) <= set(parts)
            and [-p[0] for p in pieces] == [-p[0] for p in parts[:4]]
            for n, count, parts in known
        ), "the pieces of a region"


def check(old, new, links, size):
    bake("old", old, links, 4 if size == 8 else size)
    bake("new", new, links, size)
    told = json.loads(
        subprocess.run(
            [HPABAKE, "diff", "--json", f"{FOLDER}/old.hpa", f"{FOLDER}/new.hpa"],
            check=True,
            stdout=subprocess.PIPE,
        ).stdout
    )["levels"][0]["level"]["agents"][0]
    was, is_now = set(free_cells(old)), set(free_cells(new))
    assert told["opened"] == cells_of(is_now - was), "opened"
    assert told["closed"] == cells_of(was - is_now), "closed"
    touched = sorted({(y // size, x // size) for x, y in is_now ^ was})
    assert told["n_touched"] == len(touched), "clusters touched"
    assert told["touched"] == [[x, y] for y, x in touched[:8]], "clusters"
    before, after = reach(old, links), reach(new, links)
    assert told["lost"]["pairs"] == count_lost(before, after), "pairs lost"
    assert told["gained"]["pairs"] == count_lost(after, before), "pairs gained"
    check_regions(told["lost"], regions(before, after))
    check_regions(told["gained"], regions(after, before))


def main():
    seed, rounds = int(sys.argv[3]), int(sys.argv[4])
    print("seed", seed)
    rng = random.Random(seed)
    for number in range(rounds):
        old = random_level(rng)
        new = change(rng, old)
        links = random_links(rng, old, new) if number % 2 else []
        try:
            check(old, new, links, rng.choice((4, 8, 16)))
        except AssertionError as problem:
            print(f"round {number}: {problem}; links {links}")
            for before, after in zip(old, new):
                print("".join(before), "".join(after))
            sys.exit(1)


main()
