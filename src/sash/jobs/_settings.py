"""Settings of Spark's that a job file may have without being trusted: how much, and how fast.

Everything that is not listed needs trust: other settings name jars, classes, commands, addresses to
listen on, or places to send things to, and each version of Spark adds some.
"""

from __future__ import annotations

import re
from typing import Any

_PLAIN = r"-?[\w.]+"  # numbers, sizes, lengths of time, true and false, names of codecs
_ROOM = ["memory", "memoryOverhead", "memoryOverheadFactor", "cores"]
_DYNAMIC = (
    "enabled minExecutors maxExecutors initialExecutors executorAllocationRatio "
    "executorIdleTimeout cachedExecutorIdleTimeout schedulerBacklogTimeout "
    "sustainedSchedulerBacklogTimeout shuffleTracking.enabled shuffleTracking.timeout"
)
_ADAPTIVE = (
    "enabled advisoryPartitionSizeInBytes autoBroadcastJoinThreshold coalescePartitions.enabled "
    "coalescePartitions.initialPartitionNum coalescePartitions.minPartitionSize "
    "coalescePartitions.parallelismFirst localShuffleReader.enabled skewJoin.enabled"
)
_FILES = (
    "ignoreCorruptFiles ignoreMissingFiles maxPartitionBytes maxPartitionNum maxRecordsPerFile "
    "minPartitionNum openCostInBytes"
)
_PARQUET = (
    "binaryAsString columnarReaderBatchSize compression.codec enableVectorizedReader "
    "filterPushdown int96AsTimestamp mergeSchema outputTimestampType"
)
_ROCKSDB = (
    "allowFAllocate blockCacheSizeMB blockSizeKB boundedMemoryUsage "
    "changelogCheckpointing.enabled compactOnCommit compression formatVersion "
    "highPriorityPoolRatio lockAcquireTimeoutMs maxMemoryUsageMB maxOpenFiles "
    "maxWriteBufferNumber resetStatsOnLoad trackTotalNumberOfRows writeBufferCacheRatio "
    "writeBufferSizeMB"
)


def _below(prefix: str, names: str | list[str]) -> dict[str, str]:
    listed = names.split() if isinstance(names, str) else names
    return {f"spark.{prefix}.{name}": _PLAIN for name in listed}


SETTINGS: dict[str, str] = {
    "spark.app.name": r"[^\n]*",
    "spark.master": r"local(\[[\d*, ]+\])?|yarn",
    "spark.local.dir": r"[^\n]*",
    "spark.ui.enabled": "false",  # the page has no password, and listens on all interfaces
    "spark.hadoop.fs.s3a.access.key": r"\S*",
    "spark.hadoop.fs.s3a.secret.key": r"\S*",
    "spark.hadoop.fs.s3a.endpoint": r"[\w.:/-]*",
    "spark.hadoop.fs.s3a.endpoint.region": r"[\w-]*",
    "spark.hadoop.fs.s3a.path.style.access": "true|false",
    "spark.cores.max": _PLAIN,
    "spark.default.parallelism": _PLAIN,
    "spark.network.timeout": _PLAIN,
    "spark.speculation": _PLAIN,
    **_below("task", "cpus maxFailures"),
    **_below("ui", "showConsoleProgress retainedJobs retainedStages retainedTasks"),
    **_below("driver", [*_ROOM, "maxResultSize"]),
    **_below("executor", [*_ROOM, "instances", "heartbeatInterval", "pyspark.memory"]),
    **_below("memory", "fraction storageFraction offHeap.enabled offHeap.size"),
    **_below("dynamicAllocation", _DYNAMIC),
    **_below("sql", "ansi.enabled autoBroadcastJoinThreshold caseSensitive shuffle.partitions"),
    **_below("sql.adaptive", _ADAPTIVE),
    **_below("sql.files", _FILES),
    **_below("sql.parquet", _PARQUET),
    **_below("sql.execution.arrow", "maxBytesPerBatch maxRecordsPerBatch"),
    **_below("sql.streaming", "minBatchesToRetain stateStore.maintenanceInterval"),
    **_below("sql.streaming.stateStore.rocksdb", _ROCKSDB),
}
"""Names, and what their values look like."""


def is_plain(name: str, value: Any) -> bool:
    """Whether a setting is one that needs no trust."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return name in SETTINGS and re.fullmatch(SETTINGS[name], text) is not None
