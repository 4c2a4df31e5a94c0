"""The forward pass as an ONNX graph, made from the weights themselves: playing needs no torch."""

from __future__ import annotations

from typing import Any

from aleazero.nets.checkpoint import Metadata, Weights

EPSILON = 1e-5
"""Of the layer norm, as in torch."""


def make_graph(weights: Weights, about: Metadata) -> bytes:
    """A model from ``observations`` (rows, size) to ``heads`` (rows, outputs), serialised."""
    from onnx import TensorProto, helper, numpy_helper

    nodes: list[Any] = []

    def add(operation: str, name: str, *inputs: str, **settings: Any) -> str:
        nodes.append(helper.make_node(operation, list(inputs), [name], name=name, **settings))
        return name

    def linear(name: str, inputs: str) -> str:
        return add("Gemm", f"{name}.out", inputs, f"{name}.weight", f"{name}.bias", transB=1)

    def norm(name: str, inputs: str) -> str:
        if not about.net.layer_norm:
            return inputs
        return add("LayerNormalization", f"{name}.out", inputs, f"{name}.weight", f"{name}.bias", epsilon=EPSILON)

    trunk = linear("input", "observations")
    for b in range(about.net.blocks):
        inner = linear(f"blocks.{b}.first", norm(f"blocks.{b}.norm", trunk))
        inner = linear(f"blocks.{b}.second", add("Relu", f"blocks.{b}.relu", inner))
        trunk = add("Add", f"blocks.{b}.out", trunk, inner)
    heads = linear("heads", add("Relu", "relu", norm("norm", trunk)))
    nodes[-1].output[0] = "heads"
    assert heads == "heads.out"
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("observations", TensorProto.FLOAT, ["rows", about.shape.observation])],
        [helper.make_tensor_value_info("heads", TensorProto.FLOAT, ["rows", len(weights["heads.bias"])])],
        [numpy_helper.from_array(array, name) for name, array in sorted(weights.items())],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    serialised: bytes = model.SerializeToString()
    return serialised
