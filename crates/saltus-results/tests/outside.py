"""Reads result files with programs by others; called by the tests in Rust.

outside.py beginning FILE…  checks that files have the first rows of the table in tests/common/mod.rs, and prints their numbers
outside.py describe FILE    prints what is known about the columns
outside.py write FILE       writes a table as such programs do
"""

import sys

import numpy as np


def rows(n):
    """The first rows of the table."""
    i = np.arange(n)
    odd = i % 2
    return {"time": i * 0.001, "body.phi[1]": np.sin(i * 0.7), "minus": -np.sin(i * 0.7), "n": i, "isOdd": odd, "state": 1 + odd}


def read(path):
    if path.endswith(".csv"):
        with open(path) as file:
            names = [name.strip('"') for name in file.readline().rstrip("\n").split(",")]
        return dict(zip(names, np.loadtxt(path, delimiter=",", skiprows=1, ndmin=2).T))
    if path.endswith(".mat"):
        import DyMat

        file = DyMat.DyMatFile(path)
        columns = {name: file.data(name) for name in file.names(2)}
        return {"time": file.abscissa(2, valuesOnly=True), **columns}
    import pyarrow.parquet as pq

    table = pq.read_table(path)
    return {name: table[name].to_numpy() for name in table.column_names}


def beginning(path):
    found = read(path)
    n = len(found["time"])
    expected = rows(n)
    assert found.keys() == expected.keys(), found.keys()
    for name, values in expected.items():
        # Two libraries may differ in the last digit of a sine.
        np.testing.assert_allclose(np.asarray(found[name], dtype=float), values, rtol=1e-9, atol=1e-12, err_msg=name)
    print(n)


def describe(path):
    if path.endswith(".mat"):
        import DyMat
        import scipy.io

        file = DyMat.DyMatFile(path)
        for name in sorted(file.names()):
            print(name, file.block(name), file.description(name), sep=" | ")
        # As BuildingsPy and others read it.
        assert scipy.io.loadmat(path)["data_2"].shape[1] == file.size(2)
        return
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path)
    for field in file.schema_arrow:
        metadata = {k.decode(): v.decode() for k, v in sorted((field.metadata or {}).items())}
        print(field.name, field.type, metadata, sep=" | ")
    pairs = {k.decode(): v.decode() for k, v in file.metadata.metadata.items() if k != b"ARROW:schema"}
    print(dict(sorted(pairs.items())))
    print(file.metadata.row_group(0).column(1).compression)


def write(path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.table(
        {
            "label": ["a", "b", "c"],
            "time": pa.array([0.0, 0.5, 1.0]),
            "u": pa.array([1.5, None, 2.5], pa.float32()),
            "n": pa.array([1, 2, 4_000_000_000], pa.uint32()),
            "on": pa.array([True, False, None]),
        }
    )
    pq.write_table(table, path, compression=sys.argv[3])


if __name__ == "__main__":
    check = {"beginning": beginning, "describe": describe, "write": write}[sys.argv[1]]
    for path in sys.argv[2:3] if sys.argv[1] == "write" else sys.argv[2:]:
        check(path)
