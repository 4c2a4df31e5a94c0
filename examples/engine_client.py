"""A client of `aleazero engine`: each request is a JSON object on a line, and so is each answer."""

import json
import subprocess
import sys

with subprocess.Popen(
    [sys.executable, "-m", "aleazero", "engine", "--workers", "1"],
    stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
) as engine:  # fmt: skip
    print("version", json.loads(engine.stdout.readline())["version"])

    request = {"id": "first", "request": "analyse", "game": "pig(target=20)", "moves": "roll 5", "sims": 2000}
    print(json.dumps(request), file=engine.stdin, flush=True)

    for line in engine.stdout:
        answer = json.loads(line)
        if answer["kind"] != "partial":
            break
    result = answer["result"] if answer["kind"] == "result" else sys.exit(answer["message"])
    print(dict(zip(result["action_names"], result["visits"], strict=True)))
