#!/usr/bin/env python3
# SPDX-License-Identifier: MIT OR Apache-2.0
"""DuckDB and pandas read the Parquet export: types, every value, and sums over row groups."""
import json
import warnings

import libpeers
from libpeers import SAMPLE, check, export, near, rows

libpeers.with_python_peers()
import duckdb  # noqa: E402
import pandas  # noqa: E402

warnings.simplefilter("ignore")  # pandas prefers another engine, which is ten times as large


def one(sql):
    return duckdb.sql(sql).fetchall()[0]


def read(path, **options):
    return pandas.read_parquet(path, engine="fastparquet", **options)


def sample():
    truth = rows(SAMPLE)["span"]
    path = export(SAMPLE, "sample.parquet")
    types = dict(duckdb.sql(f"SELECT column_name, column_type FROM (DESCRIBE FROM '{path}')").fetchall())
    check("types", types, {
        "start_ns": "BIGINT", "duration_ns": "BIGINT", "self_ns": "BIGINT", "depth": "INTEGER",
        "track": "INTEGER", "process": "VARCHAR", "thread": "VARCHAR", "name": "VARCHAR",
        "category": "VARCHAR", "args": "VARCHAR"})
    columns = ["start_ns", "duration_ns", "self_ns", "depth", "track", "process", "thread", "name"]
    got = duckdb.sql(f"SELECT {', '.join(columns)} FROM '{path}'").fetchall()
    check("rows of DuckDB", got, [tuple(span[c] for c in columns) for span in truth])
    args = [json.loads(a[0]) if a[0] else None for a in duckdb.sql(f"SELECT args FROM '{path}'").fetchall()]
    check("arguments", args, [span.get("args") for span in truth])
    frame = read(path)
    check("rows of pandas", frame[columns].values.tolist(), [[span[c] for c in columns] for span in truth])
    check("arguments of pandas", int(frame["args"].notna().sum()), sum("args" in span for span in truth))


def tables():
    truth = rows(SAMPLE)
    for table, key in (("counters", "counter"), ("marks", "mark"), ("links", "link"),
                       ("allocations", "allocation"), ("samples", "sample")):
        path = export(SAMPLE, f"{table}.parquet", "--table", table)
        count, last = one(f"SELECT count(*), max(time_ns) FROM '{path}'")
        check(table, (count, last), (len(truth[key]), max(row["time_ns"] for row in truth[key])))
        check(f"{table} of pandas", len(read(path)), count)
    near("counters", one("SELECT sum(value) FROM 'counters.parquet'")[0],
         sum(row["value"] for row in truth["counter"]))
    check("addresses", duckdb.sql("SELECT address FROM 'allocations.parquet'").fetchall(),
          [(row["address"],) for row in truth["allocation"]])


def large():
    """More than one row group; statistics let a reader leave out what it does not need."""
    source = libpeers.large(1_300_000)
    path = export(source, "large.parquet")
    truth = export(source, "large.csv")
    by_name = "SELECT name, count(*), sum(duration_ns), sum(self_ns) FROM '{}' GROUP BY name ORDER BY name"
    check("sums by name", duckdb.sql(by_name.format(path)).fetchall(), duckdb.sql(by_name.format(truth)).fetchall())
    groups = one(f"SELECT count(DISTINCT row_group_id) FROM parquet_metadata('{path}')")[0]
    check("row groups", groups, 2)
    where = "SELECT count(*), sum(length(args)) FROM '{}' WHERE start_ns > 200000000 AND track = 3"
    check("a part", duckdb.sql(where.format(path)).fetchall(), duckdb.sql(where.format(truth)).fetchall())
    frame = read(path, columns=["duration_ns"])
    check("sum of pandas", int(frame["duration_ns"].sum()),
          int(one(f"SELECT sum(duration_ns) FROM '{truth}'")[0]))


def empty():
    path = export(SAMPLE, "empty.parquet", "--filter", "no such name")
    check("no rows", one(f"SELECT count(*), sum(start_ns) FROM '{path}'"), (0, None))
    check("no rows of pandas", len(read(path)), 0)


sample()
tables()
large()
empty()
libpeers.finish()
