"""How compiled kernels index arrays: from zero up. Importing this imports Numba, and changes it for this process.

To Python an index below zero counts from the end, and Numba asks of every signed one whether it is such. That kept the
eight bytes of a key from being read at once: scanning, encoding and training took a fifth longer for a question that no
kernel needs. With NUMBA_BOUNDSCHECK=1 in the environment an index below zero is an IndexError instead.
"""

# Numba gives types to its users' arrays, but none to what compiles them.
# mypy: disable-error-code="no-untyped-call, untyped-decorator"

from __future__ import annotations

import operator
from typing import Any

from numba.core import cgutils, types
from numba.core.imputils import impl_ret_borrowed
from numba.extending import lower_builtin
from numba.np.arrayobj import load_item, make_array, store_item


@lower_builtin(operator.getitem, types.Array, types.Integer)
def get_item(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    """Compile array[index]."""
    array_type, index_type = signature.args
    place = _pointer(context, builder, array_type, arguments[0], index_type, arguments[1])
    item = load_item(context, builder, array_type, place)
    return impl_ret_borrowed(context, builder, signature.return_type, item)


@lower_builtin(operator.setitem, types.Array, types.Integer, types.Any)
def set_item(context: Any, builder: Any, signature: Any, arguments: Any) -> None:
    """Compile array[index] = item."""
    array_type, index_type, item_type = signature.args
    place = _pointer(context, builder, array_type, arguments[0], index_type, arguments[1])
    store_item(context, builder, array_type, context.cast(builder, arguments[2], item_type, array_type.dtype), place)


def _pointer(context: Any, builder: Any, array_type: Any, array: Any, index_type: Any, index: Any) -> Any:
    structure = make_array(array_type)(context, builder, array)
    place = context.cast(builder, index, index_type, types.intp)
    return cgutils.get_item_pointer(
        context, builder, array_type, structure, [place], wraparound=False, boundscheck=context.enable_boundscheck
    )
