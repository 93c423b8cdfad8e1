"""expected.py -- what write_files.c wrote: shared by the VTK and the ParaView test."""

TYPES = {  # name: (VTK type, components, value of component c of tuple i)
    "f32": ("float", 1, lambda i, c: i / 4 - 1000 * c),
    "velocity": ("float", 3, lambda i, c: i / 4 - 1000 * c),
    "f64": ("double", 1, lambda i, c: i / 4 - 1000 * c),
    'stress <"&">': ("double", 9, lambda i, c: i / 4 - 1000 * c),
    "i32": ("int", 2, lambda i, c: i - 70000 * c),
    "cell_type": ("unsigned char", 1, lambda i, c: (7 * i + 3 * c) % 251),
}
EXTENTS = {
    "blocks": (0, 32, 0, 32, 0, 32),
    "flat": (0, 50, 0, 30, 0, 1),
    "part": (10, 27, -3, 8, 5, 9),
    "one": (0, 1, 0, 1, 0, 1),
    "layer": (0, 50, 0, 30, 0, 0),  # of points, without cells
}
LEVELS = (0, 3, 6)
FEW_REGIONS = ["interior", 'walls & "lid"', "", "Zufluss \u00fc"]
MANY_REGIONS = FEW_REGIONS + [f"region_{k}" for k in range(4, 300)]  # a header of several pages
STEPS = (("flat", 0.0), ("part", 0.25), ("one", 0.1 * 3))
ORIGIN = (1.5, -2.0, 0.125)
SPACING = (0.1, 0.25, 3.0)


def tuples(extent, points):
    count = 1
    for a in range(3):
        count *= extent[2 * a + 1] - extent[2 * a] + points
    return count


def wrong_arrays(attributes, extent, points):
    """What differs between a vtkDataSetAttributes and what was written; "" when nothing does."""
    count = tuples(extent, points)
    if count == 0:
        return f"{attributes.GetNumberOfArrays()} arrays of nothing" * (attributes.GetNumberOfArrays() > 0)
    for name, (type_name, components, value) in TYPES.items():
        array = attributes.GetArray(name)
        if array is None:
            return f"no array {name!r}"
        found = (array.GetDataTypeAsString(), array.GetNumberOfComponents(),
                 array.GetNumberOfTuples())
        if found != (type_name, components, count):
            return f"{name!r} is {found}, not {(type_name, components, count)}"
        wanted = [value(i, c) for i in range(count) for c in range(components)]
        values = [array.GetValue(k) for k in range(count * components)]
        if values != wanted:
            k = next(k for k, v in enumerate(values) if v != wanted[k])
            return f"{name!r}: value {k} is {values[k]}, not {wanted[k]}"
    if attributes.GetNumberOfArrays() != len(TYPES):
        return f"{attributes.GetNumberOfArrays()} arrays instead of {len(TYPES)}"
    return ""


def wrong_image(image, extent, time):
    """What differs between a vtkImageData and what was written; "" when nothing does."""
    if tuple(image.GetExtent()) != extent:
        return f"extent {image.GetExtent()}, not {extent}"
    if tuple(image.GetOrigin()) != ORIGIN or tuple(image.GetSpacing()) != SPACING:
        return f"origin {image.GetOrigin()}, spacing {image.GetSpacing()}"
    field = image.GetFieldData()
    found = field.GetArray("TimeValue")
    if found is None or found.GetValue(0) != time:
        return f"TimeValue is {found and found.GetValue(0)}, not {time}"
    names = field.GetAbstractArray("cell_type_names")
    regions = names and [names.GetValue(k) for k in range(names.GetNumberOfValues())]
    if regions != (MANY_REGIONS if extent[0] > 0 else FEW_REGIONS):
        return f"names of regions are {regions}"
    return (wrong_arrays(image.GetCellData(), extent, 0)
            or wrong_arrays(image.GetPointData(), extent, 1))


class Tap:
    """Prints one line per test, then the plan."""

    def __init__(self):
        self.count = self.failed = 0

    def check(self, name, wrong):
        self.count += 1
        self.failed += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {self.count} - {name}", flush=True)
        if wrong:
            print(f"# {wrong}", flush=True)

    def end(self):
        print(f"1..{self.count}", flush=True)
        return 1 if self.failed or not self.count else 0
