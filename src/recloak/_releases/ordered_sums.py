"""Sums of products whose bits are the same on every processor, at the speed of wide registers.

A compiler that may reorder sums or fuse products does so as the processor at hand likes it, and the last bits of a
release would depend on where it was made. Here the order is written down: eight sums side by side, each product fused
into its sum (a processor that cannot do that calls the C library, which gives the same bits), added up in one order.
"""

from typing import Any

from llvmlite import ir
from numba import extending
from numba.core import types

LANES = 8
intrinsic: Any = extending.intrinsic  # whose result is called with other arguments than it was written with
_INDEX, _FLOAT = ir.IntType(64), ir.FloatType()
_VECTOR = ir.VectorType(_FLOAT, LANES)
_NONE = ir.Constant(_VECTOR, [0.0] * LANES)


def fused_vectors(builder: Any, left: Any, right: Any, total: Any) -> Any:
    """Return ``left * right + total`` of vectors of eight, with one rounding each."""
    name, kind = f"llvm.fma.v{LANES}f32", ir.FunctionType(_VECTOR, [_VECTOR] * 3)
    known = builder.module.globals.get(name)
    return builder.call(ir.Function(builder.module, kind, name) if known is None else known, (left, right, total))


@intrinsic
def fused(_context, a, b, c):  # type: ignore[no-untyped-def]  # noqa: ARG001 (typed)
    """Return ``a * b + c`` of float32 with one rounding."""
    signature = types.float32(types.float32, types.float32, types.float32)

    def codegen(_context: Any, builder: Any, _signature: Any, args: Any) -> Any:
        return builder.fma(*args)

    return signature, codegen


@intrinsic
def ordered_dot(_context, xs, x, ys, y, n):  # type: ignore[no-untyped-def]  # noqa: ARG001 (typed)
    """Multiply the first n numbers of row x of one table by those of row y of another; float32, by rows."""
    signature = types.float32(xs, types.intp, ys, types.intp, types.intp)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        left, right = _row(context, builder, signature, args, 0), _row(context, builder, signature, args, 2)
        return _dots(builder, [(left, right)], args[4])[0]

    return signature, codegen


@intrinsic
def ordered_dots(_context, points, v, u, sums, pulls, g):  # type: ignore[no-untyped-def]  # noqa: ARG001 (typed)
    """Multiply row v of the points by row u of them, and by row g of two other tables, in one pass."""
    result = types.UniTuple(types.float32, 3)  # type: ignore[no-untyped-call]
    signature = result(points, types.intp, types.intp, sums, pulls, types.intp)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        points, v, u, sums, pulls, g = args
        kinds = signature.args[0], signature.args[0], signature.args[3], signature.args[4]
        tables = zip(kinds, (points, points, sums, pulls), (v, u, g, g), strict=True)
        rows = [_row_of(context, builder, kind, table, place) for kind, table, place in tables]
        array = context.make_array(signature.args[0])(context, builder, points)
        totals = _dots(builder, [(rows[0], other) for other in rows[1:]], builder.extract_value(array.shape, 1))
        return context.make_tuple(builder, signature.return_type, totals)

    return signature, codegen


def _row(context: Any, builder: Any, signature: Any, args: Any, place: int) -> Any:
    return _row_of(context, builder, signature.args[place], args[place], args[place + 1])


def _row_of(context: Any, builder: Any, kind: Any, value: Any, row: Any) -> Any:
    """Return the place of the first number of a row."""
    assert (kind.layout, kind.ndim, kind.dtype) == ("C", 2, types.float32)
    array = context.make_array(kind)(context, builder, value)
    return builder.gep(array.data, [builder.mul(row, builder.extract_value(array.shape, 1))])


def _dots(builder: Any, pairs: list[tuple[Any, Any]], n: Any) -> list[Any]:
    """Run over eight numbers at a time, add the eight sums up, and run over the numbers that are left."""
    whole = builder.and_(n, ir.Constant(_INDEX, -LANES))
    zero = ir.Constant(_INDEX, 0)
    wide = _loop(builder, pairs, zero, whole, LANES, [_NONE] * len(pairs))
    return _loop(builder, pairs, whole, n, 1, [_added_up(builder, total) for total in wide])


def _loop(builder: Any, pairs: list[tuple[Any, Any]], first: Any, stop: Any, step: int, starts: list[Any]) -> list[Any]:
    """Fuse the products from a place to another into sums that may be vectors."""
    kind = _VECTOR if step == LANES else _FLOAT
    before, head = builder.block, builder.append_basic_block("more")
    body, after = builder.append_basic_block("fused"), builder.append_basic_block("done")
    builder.branch(head)
    builder.position_at_end(head)
    place, totals = builder.phi(_INDEX), [builder.phi(kind) for _ in pairs]
    builder.cbranch(builder.icmp_signed("<", place, stop), body, after)
    builder.position_at_end(body)
    known: dict[int, Any] = {}

    def load(data: Any) -> Any:
        if id(data) not in known:
            at = builder.bitcast(builder.gep(data, [place]), kind.as_pointer())
            known[id(data)] = builder.load(at, align=4)
        return known[id(data)]

    fuse = fused_vectors if step == LANES else type(builder).fma
    added = [fuse(builder, load(x), load(y), total) for (x, y), total in zip(pairs, totals, strict=True)]
    following = builder.add(place, ir.Constant(_INDEX, step))
    builder.branch(head)
    for phi, start, end in zip([place, *totals], [first, *starts], [following, *added], strict=True):
        phi.add_incoming(start, before)
        phi.add_incoming(end, body)
    builder.position_at_end(after)
    return totals


def _added_up(builder: Any, vector: Any) -> Any:
    """Add the lanes of a vector: the upper half to the lower, until one is left."""
    n = LANES
    while n > 1:
        n //= 2
        places = [list(range(n)), list(range(n, 2 * n))]
        halves = [
            builder.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(ir.IntType(32), n), half))
            for half in places
        ]
        vector = builder.fadd(*halves)
    return builder.extract_element(vector, ir.Constant(ir.IntType(32), 0))
