"""The one loop that decides the speed of the factorisation, written for wide registers.

The sums of outer products of a row's ratings cost more than everything else together. A compiler that must fear that
its arrays overlap keeps loading and storing the sums; measured, plain loops took four to six times as long as this
tile, whose 8 x 8 sums stay in registers. It is made of vectors of 8 floats, which every processor has in some form.
"""

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from recloak._releases.ordered_sums import fused_vectors

TILE = 8  # rows and columns of a tile

_INDEX = ir.IntType(64)
_FLOAT = ir.FloatType()
_VECTOR = ir.VectorType(_FLOAT, TILE)
_EVERY_LANE = ir.Constant(ir.VectorType(ir.IntType(32), TILE), [0] * TILE)  # the shuffle that repeats lane 0


@intrinsic
def add_outer_tile(_context, gathered, n, row, column, sums):  # type: ignore[no-untyped-def]  # noqa: ARG001 (typed)
    """Add to ``sums[row:row+8, column:column+8]`` the outer products of the first n >= 1 rows of ``gathered``.

    That is ``sums[row + i, column + j] += sum_r gathered[r, row + i] * gathered[r, column + j]``. Both arrays are
    float32, by rows, and as wide as a multiple of 8.
    """
    signature = types.void(gathered, types.intp, types.intp, types.intp, sums)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        gathered, n, row, column, sums = args
        read, width = _data_and_width(context, builder, signature.args[0], gathered)
        write, sums_width = _data_and_width(context, builder, signature.args[4], sums)
        corner = builder.add(builder.mul(row, sums_width), column)
        places = [_vector_at(builder, write, corner, sums_width, i) for i in range(TILE)]
        totals = _loop(builder, read, width, n, row, column, [builder.load(place, align=4) for place in places])
        for place, total in zip(places, totals, strict=True):
            builder.store(total, place, align=4)
        return context.get_dummy_value()

    return signature, codegen


def _data_and_width(context: Any, builder: Any, kind: Any, value: Any) -> tuple[Any, Any]:
    """Return an array's first element and its number of columns."""
    array = context.make_array(kind)(context, builder, value)
    return array.data, builder.extract_value(array.shape, 1)


def _vector_at(builder: Any, data: Any, corner: Any, width: Any, i: int) -> Any:
    """Return the place of the 8 sums in row i of the tile."""
    offset = builder.add(corner, builder.mul(width, ir.Constant(_INDEX, i)))
    return builder.bitcast(builder.gep(data, [offset]), _VECTOR.as_pointer())


def _loop(builder: Any, data: Any, width: Any, n: Any, row: Any, column: Any, starts: list[Any]) -> list[Any]:
    """Run over the gathered rows with the tile's sums in registers, and return the sums."""
    before, body, after = builder.block, builder.append_basic_block("rows"), builder.append_basic_block("summed")
    builder.branch(body)
    builder.position_at_end(body)
    r = builder.phi(_INDEX)
    sums = [builder.phi(_VECTOR) for _ in starts]
    offset = builder.mul(r, width)
    right = builder.load(
        builder.bitcast(builder.gep(data, [builder.add(offset, column)]), _VECTOR.as_pointer()), align=4
    )
    left = builder.add(offset, row)
    added = [_add_product(builder, _repeated(builder, data, left, i), right, total) for i, total in enumerate(sums)]
    following = builder.add(r, ir.Constant(_INDEX, 1))
    for phi, start, end in zip([r, *sums], [ir.Constant(_INDEX, 0), *starts], [following, *added], strict=True):
        phi.add_incoming(start, before)
        phi.add_incoming(end, body)
    builder.cbranch(builder.icmp_signed("<", following, n), body, after)
    builder.position_at_end(after)
    return added


def _repeated(builder: Any, data: Any, left: Any, i: int) -> Any:
    """Load one number into all 8 lanes."""
    one = builder.load(builder.gep(data, [builder.add(left, ir.Constant(_INDEX, i))]), align=4)
    nothing = ir.Constant(_VECTOR, ir.Undefined)
    first = builder.insert_element(nothing, one, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(first, nothing, _EVERY_LANE)


def _add_product(builder: Any, left: Any, right: Any, total: Any) -> Any:
    """Return total + left * right with one rounding, on every processor (see `ordered_sums`)."""
    return fused_vectors(builder, left, right, total)
