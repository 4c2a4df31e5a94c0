"""``aleazero champions``: the trained players that ship."""

from __future__ import annotations

from aleazero.cli.options import JsonFlag


def champions(json: JsonFlag = False) -> None:
    """List the trained players that ship, each with how strong its run measured it to be.

    They play and analyse by default; anywhere else they are called `champion` in place of a network's path.

    **Examples**

    - `aleazero play yatzy` (against it)

    - `aleazero match net:champion search:sims=200 --game yatzy`
    """
    from aleazero.cli.show import facts_table, make_console, print_json
    from aleazero.players.champions import champions as all_of_them

    found = all_of_them()
    if json:
        print_json([{"file": one.path.name, "bytes": one.path.stat().st_size, **one.figures} for one in found])
        return
    console = make_console()
    for one in found:
        figures = one.figures
        table = facts_table()
        table.add_row(
            "learnt", f"by recipe {figures['recipe']}, seed {figures['seed']}, in {figures['minutes']} minutes"
        )
        for name, text in figures["lines"].items():
            table.add_row(name, text)
        table.add_row("file", f"{one.path.name}, {one.path.stat().st_size / 1e6:.2f} MB")
        console.print(one.game, style="bold", markup=False)
        console.print(table)
