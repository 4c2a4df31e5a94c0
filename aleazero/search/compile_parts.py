"""Functions that are only ever parts of a loop: typed and lowered by numba, but not made into machine code alone.

numba optimises and emits every function by itself, and again inside each that calls it. A loop has a hundred parts in
nested calls; made once, as a whole, it compiles in a fraction of the time.
"""

from __future__ import annotations

from typing import Any

from numba import _dynfunc
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering


class PartLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of one part, to be linked into others."""

    def _optimize_final_module(self) -> None:
        """The whole is optimised instead."""

    def _finalize_final_module(self) -> None:
        """Close the library; nothing is emitted."""
        self._finalize_dynamic_globals()
        self._finalized = True


@register_pass(mutates_CFG=True, analysis_only=False)
class LowerPart(NativeLowering):  # type: ignore[misc]
    """numba's lowering, into a library of our kind."""

    _name = "lower_part"

    def run_pass(self, state: Any) -> bool:
        """Lower one part, and make it known to those that call it."""
        state.library = PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        state.flags.no_compile = True
        super().run_pass(state)
        result = state.cr
        keep = (state.library,)
        part = _dynfunc.make_function(result.fndesc.lookup_module(), "part", "", 0, result.env, keep)  # never called
        state.targetctx.insert_user_function(part, result.fndesc, [state.library])
        state.cr = result._replace(cfunc=part)
        return True


class PartCompiler(CompilerBase):  # type: ignore[misc]
    """numba's nopython pipeline with that lowering."""

    def define_pipelines(self) -> list[Any]:
        """The one pipeline."""
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [(LowerPart if step is NativeLowering else step, why) for step, why in passes.passes]
        passes._finalized = False
        passes.finalize()
        return [passes]
