"""The shared library from Python's ctypes, standard library only: python3 ctypes_test.py LIBRARY."""
import array
import ctypes
import math
import sys

ANGLES, COLUMNS = 90, 65


class Error(ctypes.Structure):
    _fields_ = [("code", ctypes.c_int32), ("message", ctypes.c_char * 252)]


class GridrecDesc(ctypes.Structure):
    _fields_ = [
        ("struct_size", ctypes.c_uint32),
        ("angles", ctypes.c_int32),
        ("columns", ctypes.c_int32),
        ("filter", ctypes.c_int32),
        ("theta", ctypes.POINTER(ctypes.c_double)),
        ("filter_p0", ctypes.c_double),
        ("filter_p1", ctypes.c_double),
        ("padding", ctypes.c_double),
        ("oversampling", ctypes.c_double),
        ("kernel_error", ctypes.c_double),
        ("edge", ctypes.c_int32),
        ("image_size", ctypes.c_int32),
        ("row0", ctypes.c_int32),
        ("col0", ctypes.c_int32),
        ("rows", ctypes.c_int32),
        ("cols", ctypes.c_int32),
    ]


def main(path):
    lib = ctypes.CDLL(path)
    error = Error()
    plan, scratch = ctypes.c_void_p(), ctypes.c_void_p()
    theta = (ctypes.c_double * ANGLES)(*[math.pi * a / ANGLES for a in range(ANGLES)])
    row = [2 * math.sqrt(max(0, 400 - (c - 32.0) ** 2)) for c in range(COLUMNS)]
    sino = (ctypes.c_float * (ANGLES * COLUMNS))(*(row * ANGLES))
    image = (ctypes.c_float * (COLUMNS * COLUMNS))()
    desc = GridrecDesc()
    lib.pk_gridrec_desc_init(ctypes.byref(desc), ANGLES, COLUMNS, theta)
    assert desc.struct_size == ctypes.sizeof(desc), (desc.struct_size, ctypes.sizeof(desc))
    assert lib.pk_gridrec_plan_create(ctypes.byref(desc), ctypes.byref(plan), ctypes.byref(error)) == 0, error.message
    assert lib.pk_gridrec_scratch_create(plan, 1, ctypes.byref(scratch), ctypes.byref(error)) == 0, error.message
    assert lib.pk_gridrec_run(plan, scratch, sino, None, 1, image, ctypes.byref(error)) == 0, error.message
    mean = sum(image[r * COLUMNS + c] for r in range(25, 40) for c in range(25, 40)) / 225
    assert abs(mean - 1) < 0.01, mean
    assert lib.pk_gridrec_run(plan, scratch, None, None, 1, image, ctypes.byref(error)) == 1
    assert b"NULL" in error.message, error.message
    lib.pk_gridrec_scratch_destroy(scratch)
    lib.pk_gridrec_plan_destroy(plan)

    points = array.array("f", [0, 0, 0, 9, 9, 9, float("nan"), 0, 0, 1, 0, 0])
    centres = (ctypes.c_double * 6)(0, 0, 0, 10, 10, 10)
    model, partial = ctypes.c_void_p(), ctypes.c_void_p()
    labels = (ctypes.c_int32 * 4)()
    address = ctypes.c_void_p(points.buffer_info()[0])
    assert lib.pk_kmeans_create(2, 3, centres, None, ctypes.byref(model), None) == 0
    assert lib.pk_kmeans_partial_create(2, 3, ctypes.byref(partial), None) == 0
    assert lib.pk_kmeans_assign_f32(model, partial, address, ctypes.c_int64(4), labels, None) == 0
    assert list(labels) == [0, 1, -1, 0], list(labels)
    assert lib.pk_kmeans_update(model, partial, 0, ctypes.c_double(1.0), None) == 0
    lib.pk_kmeans_get(model, None, None, centres, None)
    assert list(centres) == [0.5, 0, 0, 9, 9, 9], list(centres)
    lib.pk_kmeans_partial_destroy(partial)
    lib.pk_kmeans_destroy(model)


if __name__ == "__main__":
    main(sys.argv[1])
