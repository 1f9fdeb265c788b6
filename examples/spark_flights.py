# %% [markdown]
# # How late is New York right now?
#
# Every flight out of New York in 2013, on Spark: the mean delay of the last three hours at each
# airport, beside each flight, and the worst hours of the year. Runs as a script, or cell by cell in
# an editor that knows `# %%`.

# %%
"""Delays of the last hours, on Spark, with a picture."""

from __future__ import annotations

import matplotlib as mpl
import pyarrow as pa
import pyarrow.compute as pc

import sash
from sash import agg
from sash import spark as sps
from sash.demo import flights as demo

mpl.use("Agg")
import matplotlib.pyplot as plt

spark = sps.local_session()
found = demo.load()
departures = pa.array(found.departure * 60_000_000).view(pa.timestamp("us", "UTC"))
flights = spark.createDataFrame(
    pa.table({"departs": departures, "delay": found.delay, "airport": found.table["origin"]})
)
print(f"{flights.count():,} flights")

# %% [markdown]
# A window around each row. Spark has `RANGE BETWEEN` for means and maxima; a median, or which
# flight was worst, it has not.

# %%
lately = flights.transform(
    sps.rolling,
    on="departs",
    by="airport",
    window="3h",
    aggs=[agg.mean("delay"), agg.median("delay"), agg.count()],
)
lately.filter("count >= 20").orderBy("mean_delay", ascending=False).show(5)
print(sash.explain(flights, on="departs", by="airport", window="3h", aggs=agg.mean("delay")))

# %% [markdown]
# Windows: three hours, a new one every ten minutes. Rows are folded into slices of ten minutes
# before the shuffle, so this costs what windows of ten minutes do.

# %%
metrics = sps.Metrics()
hours = sps.windows(
    flights,
    on="departs",
    by="airport",
    windows=sash.sliding("3h", "10m"),
    aggs=[agg.count(), agg.mean("delay"), agg.max("delay")],
    metrics=metrics,
)
table = hours.filter("window_end between '2013-07-22' and '2013-07-25'").toArrow()
print(f"{metrics.rows:,} rows were folded into {metrics.slices:,} slices of {metrics.keys} keys")

# %% [markdown]
# A picture of three stormy days in July.

# %%
figure, axes = plt.subplots(figsize=(9, 3.5), layout="constrained")
for airport in ("EWR", "JFK", "LGA"):
    mine = table.filter(pc.equal(table["airport"], airport)).sort_by("window_end")
    axes.plot(mine["window_end"].to_pylist(), mine["mean_delay"].to_pylist(), label=airport)
axes.set_ylabel("mean delay at arrival, minutes")
axes.set_title("The last three hours, every ten minutes")
axes.legend(frameon=False)
axes.spines[["top", "right"]].set_visible(False)
figure.savefig("spark_flights.png", dpi=120)
print("wrote spark_flights.png")
spark.stop()
