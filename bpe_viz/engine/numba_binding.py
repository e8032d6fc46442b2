"""Many arrays handed to a compiled kernel at once. Importing this imports Numba, and teaches it a type.

At each call Numba looks at every array that it is given, a sixth of a microsecond for each; encoding a sentence works
in forty of them, always the same. A Bound is looked at once: where its arrays lie is written down, and a kernel reads
that.
"""

# Numba gives types to its users' arrays, but none to what compiles them.
# mypy: disable-error-code="no-untyped-call, untyped-decorator, misc, attr-defined, override"

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numba
import numpy as np
from numba.core import cgutils, types
from numba.core.datamodel.models import PrimitiveModel
from numba.core.typing.templates import AttributeTemplate
from numba.extending import NativeValue, infer_getattr, lower_getattr_generic, register_model, typeof_impl, unbox
from numba.np.arrayobj import make_array

_WORD = cgutils.intp_t
_WORDS_OF_ARRAY = 2  # its address and its length


class BoundType(types.Type):
    """To a compiled kernel, a tuple whose fields are tuples of arrays.

    A field is put together where it is read, so a kernel reads each once, before its loops.
    """

    def __init__(self, fields: Any) -> None:
        """fields: Numba's type of the tuple."""
        self.fields = fields
        super().__init__(name=f"Bound({fields})")

    @property
    def key(self) -> Any:
        """What tells such types apart."""
        return self.fields


class Bound:
    """A NamedTuple of NamedTuples of flat arrays, for compiled kernels."""

    def __init__(self, arrays: Any) -> None:
        """Write down where the arrays lie; they are kept as long as this is. Raises ValueError if one is not flat."""
        self._arrays = arrays
        self._words = np.array(list(_words(arrays)), dtype=np.intp)
        self.address = self._words.ctypes.data
        self._numba_type_ = BoundType(numba.typeof(arrays))


def _words(arrays: Any) -> Iterator[int]:
    for one in arrays:
        if isinstance(one, tuple):
            yield from _words(one)
        elif one.ndim != 1 or not one.flags.c_contiguous:
            raise ValueError("only flat arrays without gaps can be bound")
        else:
            yield from (one.ctypes.data, len(one))


def _n_words(kind: Any) -> int:
    return sum(_n_words(part) for part in kind.types) if isinstance(kind, types.BaseTuple) else _WORDS_OF_ARRAY


@typeof_impl.register(Bound)
def _type_of(bound: Bound, _context: Any) -> BoundType:
    return bound._numba_type_


@register_model(BoundType)
class _BoundModel(PrimitiveModel):
    """The address of the words."""

    def __init__(self, manager: Any, kind: BoundType) -> None:
        super().__init__(manager, kind, _WORD.as_pointer())


@unbox(BoundType)
def _unbox(_kind: BoundType, bound: Any, context: Any) -> NativeValue:
    number = context.pyapi.object_getattr_string(bound, "address")
    address = context.builder.bitcast(context.pyapi.long_as_voidptr(number), _WORD.as_pointer())
    context.pyapi.decref(number)
    return NativeValue(address)


@infer_getattr
class _BoundAttribute(AttributeTemplate):
    key = BoundType

    def generic_resolve(self, kind: BoundType, name: str) -> Any:
        """Return the type of a field, None if there is none of this name."""
        return dict(zip(kind.fields.fields, kind.fields.types, strict=True)).get(name)


@lower_getattr_generic(BoundType)
def _get_field(context: Any, builder: Any, kind: BoundType, address: Any, name: str) -> Any:
    index = kind.fields.fields.index(name)
    first_word = sum(_n_words(part) for part in kind.fields.types[:index])
    return _put_together(context, builder, kind.fields.types[index], address, first_word)


def _put_together(context: Any, builder: Any, kind: Any, address: Any, word: int) -> Any:
    if isinstance(kind, types.BaseTuple):
        parts = []
        for part in kind.types:
            parts.append(_put_together(context, builder, part, address, word))
            word += _n_words(part)
        return context.make_tuple(builder, kind, parts)
    data, length = (builder.load(cgutils.gep_inbounds(builder, address, word + i)) for i in range(_WORDS_OF_ARRAY))
    item = context.get_data_type(kind.dtype)
    size = context.get_constant(types.intp, context.get_abi_sizeof(item))
    array = make_array(kind)(context, builder)
    array.data = builder.inttoptr(data, item.as_pointer())
    array.nitems, array.itemsize = length, size
    array.shape, array.strides = cgutils.pack_array(builder, [length]), cgutils.pack_array(builder, [size])
    array.meminfo, array.parent = (cgutils.get_null_value(one.type) for one in (array.meminfo, array.parent))
    return array._getvalue()
