"""Addresses of databases, settings of Spark's, and secrets in either."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from bad_inputs import of_jobs

from sash import cli, jobs
from sash.jobs._addresses import GRAMMARS, unknown_part
from sash.jobs._secrets import HIDDEN, has_secret, redacted
from sash.jobs._settings import SETTINGS, is_plain

PLAIN = [
    "jdbc:postgresql://localhost/metrics",
    "jdbc:postgresql://db-1.example.org:5432,db-2.example.org:5433/metrics",
    "jdbc:postgresql://[::1]:5432/metrics?sslmode=require&ApplicationName=sash&connectTimeout=10",
    "jdbc:postgresql:metrics",
    "jdbc:mysql://localhost:3306/metrics?useSSL=true&serverTimezone=Europe/Berlin",
    "jdbc:mysql://localhost",
    "jdbc:mariadb://localhost/metrics?sslMode=trust",
    "jdbc:sqlserver://localhost",
    "jdbc:sqlserver://localhost\\prod:1433;databaseName=metrics;encrypt=true;",
    "jdbc:oracle:thin:@localhost:1521:orcl",
    "jdbc:oracle:thin:@//localhost:1521/service.example.org",
    "jdbc:oracle:thin:@tcps://localhost:1521/service",
    "jdbc:db2://localhost:50000/metrics",
    "jdbc:db2://localhost:50000/metrics:sslConnection=true;currentSchema=X;",
    "jdbc:sqlite:late.sqlite",
    "jdbc:sqlite:/var/data/late rows.sqlite",
    "jdbc:sqlite::memory:",
    "jdbc:h2:mem:test",
    "jdbc:h2:~/test;MODE=PostgreSQL;DB_CLOSE_DELAY=-1",
    "jdbc:h2:tcp://localhost:9092/~/test",
    "jdbc:derby:/tmp/x/db;create=true",
    "jdbc:derby://localhost:1527/memory:db",
]
TRUSTED = [
    "jdbc:mysql://(host=h,autoDeserialize=true)/db",
    "jdbc:mysql://address=(host=h)(port=1)(autoDeserialize=true)/db",
    "jdbc:mysql://[(host=h,allowLoadLocalInfile=true)]/db",
    "jdbc:mysql://h/db?autoDeserialize=true",
    "jdbc:mysql://h/db?useSSL=true&%61utoDeserialize=true",
    "jdbc:mysql://h/db?useSSL=true;autoDeserialize=true",
    "jdbc:mysql://h/db?useSSL=(autoDeserialize=true)",
    "jdbc:mysql://h/db?useSSL=true#&autoDeserialize=true",
    "jdbc:mysql://h/db?useSSL=true\n&autoDeserialize=true",
    "jdbc:mysql:loadbalance://h/db",
    "jdbc:mysql:replication://h,i/db",
    "jdbc:mariadb:sequential:address=(host=h)/db",
    "jdbc:mariadb://h/db?credentialType=x",
    "jdbc:mariadb://h/db?allowLocalInfile=true",
    "jdbc:postgresql://h/db?socketFactory=x.Y&socketFactoryArg=http://x",
    "jdbc:postgresql://h/db?loggerLevel=DEBUG&loggerFile=/tmp/x.jsp",
    "jdbc:postgresql://h/db?ssl=true&sslfactory=x.Y",
    "jdbc:postgresql://h/db/?x",
    "jdbc:sqlserver://h;authenticationScheme=JavaKerberos",
    "jdbc:sqlserver://h;databaseName={a;b=c};x=y",
    "jdbc:sqlserver://h;encrypt=true;socketFactoryClass=x.Y",
    "jdbc:oracle:thin:@(DESCRIPTION=(ADDRESS=(HOST=h)(PORT=1521))(CONNECT_DATA=(SID=x)))",
    "jdbc:oracle:thin:@ldap://h/cn=x",
    "jdbc:oracle:thin:@//h/s?TNS_ADMIN=/tmp",
    "jdbc:oracle:thin:@x?TNS_ADMIN=/tmp",
    "jdbc:oracle:oci:@x",
    "jdbc:db2://h:1/db:clientRerouteServerListJNDIName=ldap://x;",
    "jdbc:db2://h:1/db:sslConnection=true;traceFile=/tmp/x;",
    "jdbc:db2://h:1/db:traceFile=/tmp/x:sslConnection=true;",
    "jdbc:sqlite::resource:http://x/y.db",
    "jdbc:sqlite:x.db?enable_load_extension=true",
    "jdbc:sqlite:file:x.db",
    "jdbc:h2:mem:test;INIT=RUNSCRIPT FROM 'http://x/y'",
    "jdbc:h2:mem:test;MODE=Oracle\\;INIT=x",
    "jdbc:h2:mem:test;mode=x;TRACE_LEVEL_FILE=3",
    "jdbc:h2:zip:x.zip!/test",
    "jdbc:h2:file:x;AUTO_SERVER=TRUE",
    "jdbc:derby:classpath:x",
    "jdbc:derby:jar:(x.jar)db",
    "jdbc:derby:db;create=true;bootPassword",
    "jdbc:derby:db;restoreFrom=/tmp/x",
    "jdbc:derby:db;startMaster=true;slaveHost=x",
    "jdbc:snowflake://h/?db=x",
    "jdbc:x:y",
    "jdbc:",
]
SECRET = "Gehe1m-42"
SECRETS = [
    f"jdbc:postgresql://h/db?user=u&password={SECRET}",
    f"jdbc:postgresql://h/db?sslpassword={SECRET}",
    f"jdbc:postgresql://u:{SECRET}@h/db",
    "jdbc:postgresql://u:12345678@h/db",
    f"jdbc:mysql://u:{SECRET}@h:3306/db",
    f"jdbc:mysql://(host=h,password={SECRET})/db",
    f"jdbc:mysql://address=(host=h)(password={SECRET})/db",
    f"jdbc:mysql://h/db?PassWord={SECRET}",
    f"jdbc:mysql://h/db?%70assword={SECRET}",
    f"jdbc:mysql://h/db?trustCertificateKeyStorePassword={SECRET}",
    f"jdbc:sqlserver://h;user=sa;password={SECRET};encrypt=true",
    f"jdbc:sqlserver://h;password={{{SECRET}}}",
    f"jdbc:sqlserver://h;accessToken={SECRET}",
    f"jdbc:oracle:thin:scott/{SECRET}@h:1521:x",
    f"jdbc:oracle:thin:scott/{SECRET}@//h:1521/x",
    f"jdbc:db2://h:1/db:user=u;password={SECRET};",
    f"jdbc:db2://h:1/db:apiKey={SECRET};",
    f"jdbc:h2:mem:test;PASSWORD={SECRET}",
    f"jdbc:derby:db;bootPassword={SECRET}",
    f"jdbc:mysql://u:{SECRET}/?;@@h/db",
    f"jdbc:mysql://h:1,u:{SECRET}@i/db",
    f"jdbc:mysql://u:it's {SECRET}@h/db",
    f"jdbc:sqlserver://h;password = {{a; b {SECRET}}}",
    f"jdbc:oracle:thin:scott/a@{SECRET}@//h:1521/x",
    f"jdbc:x://u:{SECRET}@h",
    f"http://u:{SECRET}@h/db",
]


def job_with(folder: Path, url: str, more: str = "") -> Path:
    path = folder / "job.toml"
    address = '"jdbc:postgresql://localhost/metrics"'
    path.write_text(of_jobs.sink(of_jobs.JDBC.replace(address, json.dumps(url))) + more)
    return path


@pytest.mark.parametrize("url", PLAIN)
def test_plain_addresses_need_no_trust(url: str, tmp_path: Path) -> None:
    assert unknown_part(url) is None
    assert jobs.load(job_with(tmp_path, url)).said.sinks[1].url == url


@pytest.mark.parametrize("url", TRUSTED)
def test_other_addresses_need_trust(url: str, tmp_path: Path) -> None:
    assert unknown_part(url) is not None
    if url.startswith("jdbc:"):
        with pytest.raises(jobs.JobError, match="--allow-python") as caught:
            jobs.load(job_with(tmp_path, url))
        assert len(caught.value.problems) == 1
        jobs.load(job_with(tmp_path, url), allow_python=True)


def test_every_grammar_is_tried() -> None:
    for kind in GRAMMARS:
        for urls in (PLAIN, TRUSTED):
            assert any(url.startswith(f"jdbc:{kind}:") for url in urls)


@pytest.mark.parametrize("allowed", [[], ["--allow-python"]])
@pytest.mark.parametrize("url", SECRETS)
def test_secrets_are_refused_and_not_shown(
    url: str, allowed: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert has_secret(url)
    path = job_with(tmp_path, url)
    assert cli.main(["check", *allowed, str(path)]) == 2
    out, err = capsys.readouterr()
    assert "password_env" in err
    for secret in (SECRET, "12345678"):
        assert secret not in out + err
        assert secret not in repr(jobs.read(path))
        assert secret not in str(jobs.read(path).said)


@pytest.mark.parametrize("url", [url for url in SECRETS if " " not in url])
@pytest.mark.parametrize("quote", ["", "'", '"'])
def test_secrets_are_cut_out_of_messages(url: str, quote: str) -> None:
    words = redacted(f"cannot connect to {quote}{url}{quote} for\na reason")
    assert SECRET not in words
    assert "12345678" not in words
    assert words.startswith(f"cannot connect to {quote}{url[:8]}")
    assert words.endswith(f"{quote} for\na reason")


HARMLESS_ADDRESSES = [
    "jdbc:sqlserver://h:1433;user=me@corp",
    "jdbc:postgresql://[::1]:5432/db?user=me@corp",
    "jdbc:postgresql://h/db?user=me@corp",
    "jdbc:oracle:thin:@//h/s?user=me@corp",
    "jdbc:mysql://me@h/db",
]


@pytest.mark.parametrize("url", [*PLAIN, *TRUSTED, *HARMLESS_ADDRESSES])
def test_other_addresses_have_no_secrets(url: str) -> None:
    assert not has_secret(url)
    assert redacted(url) == url


LONG = [
    sign * 60_000 for sign in ("a", ":", "@", "/", "=", "{", "{}", "token", "a:b@", ",a:1", "(")
]


@pytest.mark.parametrize("long", LONG, ids=lambda text: text[:5])
@pytest.mark.parametrize("kind", [*GRAMMARS, "other"])
def test_long_addresses_take_time_by_their_length(kind: str, long: str) -> None:
    """Which would be minutes at the least by the square of it."""
    for url in (f"jdbc:{kind}:{long}", f"jdbc:{kind}://{long}", f"jdbc:{kind}:thin:@{long}"):
        assert len(redacted(url)) <= len(url) + len(HIDDEN)
        unknown_part(url)


@pytest.mark.parametrize(
    "spoiled",
    [
        f"url = jdbc:mysql://h/db?password={SECRET}",
        f'url = ["jdbc:mysql://u:{SECRET}@h/db"]\ntable = "t"\nformat = "jdbc"',
        f'{of_jobs.JDBC}options = {{password = "{SECRET}"}}',
        f'{of_jobs.JDBC}password = "{SECRET}"',
        f'format = "jdbc:mysql://u:{SECRET}@h/db"',
        f'format = "jdbc:mysql://u:my {SECRET}@h/db"',
        f"password = {SECRET}",
        f"options.password = x{SECRET}",
        f"options = {{password = {SECRET}}}",
        f"url = jdbc:mysql://u:my {SECRET}@h/db",
        f'format = "parquet"\npath = "jdbc:mysql://u:{SECRET}@h/db"\noverwrite = "yes"',
    ],
)
def test_no_error_shows_a_secret(
    spoiled: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SASH_DEBUG", "")  # which --debug sets, and is put back
    path = tmp_path / "job.toml"
    path.write_text(of_jobs.sink(spoiled))
    for options in ([], ["--debug"]):
        assert cli.main([*options, "check", str(path)]) == 2
        out, err = capsys.readouterr()
        assert err
        assert SECRET not in out + err


def test_values_of_settings_are_not_shown(tmp_path: Path) -> None:
    setting = f'[spark]\n"spark.hadoop.fs.s3a.secret.key" = "{SECRET}"\n'
    job = jobs.load(job_with(tmp_path, "jdbc:h2:mem:test", setting))
    assert SECRET not in repr(job)
    assert HIDDEN in repr(job)
    assert job.said.spark["spark.hadoop.fs.s3a.secret.key"] == SECRET


@pytest.mark.parametrize(
    "words",
    [
        "[[sinks]] password_env: 'PATH' may be another secret than a password",
        'give user = "..." and password_env = "SASH_PASSWORD"',
        "there is no environment variable 'X': set it to the password first",
        "sum overflows in the row token=a, password=b, ts=2026-01-01",
        "there is no column 'token='; did you mean 'secret:'?",
        "columns: {'access_key': 'string', 'pwd': 'bigint'}",
        "http://localhost:8717/?a=b",
        "s3a://bucket/token/a@b",
        "file:///tmp/me@here/x.parquet: no such file",
        "key=jdbc, value=:@",
    ],
)
def test_other_text_stays_as_it_is(words: str) -> None:
    assert redacted(words) == words


def test_columns_may_be_called_like_secrets(tmp_path: Path) -> None:
    path = tmp_path / "job.toml"
    path.write_text('by = "token=1"\n' + of_jobs.WHOLE)
    with pytest.raises(jobs.JobError, match="there is no column 'token=1'"):
        jobs.load(path)


# ---- settings ----------------------------------------------------------------------------------

HARMLESS = {
    "spark.driver.memory": "8g", "spark.sql.shuffle.partitions": 4, "spark.memory.fraction": 0.5,
    "spark.sql.adaptive.enabled": False, "spark.ui.enabled": False, "spark.app.name": "it's mine",
    "spark.sql.parquet.compression.codec": "zstd", "spark.master": "local[2, 3]",
    "spark.dynamicAllocation.maxExecutors": 8, "spark.executor.instances": 2,
    "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled": True,
}  # fmt: skip
RISKY = {
    "spark.ui.bindAddress": "0.0.0.0", "spark.ui.enabled": True, "spark.ui.port": 4040,
    "spark.ui.proxyBase": "x", "spark.ui.reverseProxyUrl": "http://x", "spark.ui.filters": "x.Y",
    "spark.ui.custom.executor.log.url": "http://x", "spark.ui.killEnabled": True,
    "spark.ui.prometheus.enabled": True, "spark.ui.view.acls": "*",
    "spark.driver.bindAddress": "0.0.0.0", "spark.driver.host": "0.0.0.0", "spark.driver.port": 1,
    "spark.blockManager.port": 1, "spark.driver.blockManager.port": 1,
    "spark.driver.extraJavaOptions": "-agentlib:x", "spark.executor.extraJavaOptions": "-x",
    "spark.driver.defaultJavaOptions": "-x", "spark.driver.extraClassPath": "/x",
    "spark.driver.extraLibraryPath": "/x", "spark.driver.log.dfsDir": "/x",
    "spark.jars": "x.jar", "spark.jars.packages": "a:b:c", "spark.jars.repositories": "http://x",
    "spark.jars.ivySettings": "x.xml", "spark.files": "/etc/passwd", "spark.archives": "x.zip",
    "spark.plugins": "x.Y", "spark.extraListeners": "x.Y", "spark.sql.queryExecutionListeners": "x",
    "spark.sql.streaming.streamingQueryListeners": "x.Y", "spark.sql.extensions": "x.Y",
    "spark.sql.catalog.x": "x.Y", "spark.sql.warehouse.dir": "/x", "spark.serializer": "x.Y",
    "spark.pyspark.python": "/x", "spark.pyspark.driver.python": "/x", "spark.python.worker.module":
    "x", "spark.python.daemon.module": "x", "spark.executorEnv.PYTHONPATH": "/x",
    "spark.executorEnv.PYTHONSAFEPATH": "", "spark.yarn.appMasterEnv.X": "y",
    "spark.metrics.conf": "/x", "spark.metrics.conf.*.sink.x.class": "x.Y",
    "spark.eventLog.dir": "http://x", "spark.eventLog.enabled": True,
    "spark.log.callerContext": "x",
    "spark.hadoop.fs.file.impl": "x.Y",
    "spark.hadoop.hadoop.security.credential.provider.path": "x",
    "spark.hadoop.fs.s3a.aws.credentials.provider": "x.Y", "spark.memory.x": 1,
    "spark.master": "spark://x:7077", "spark.submit.pyFiles": "x.py", "spark.remote": "sc://x",
    "spark.sql.streaming.stateStore.providerClass": "x.Y", "spark.api.mode": "connect",
    "spark.sql.streaming.checkpointFileManagerClass": "x.Y", "spark.connect.grpc.binding.port": 1,
    "spark.sql.sources.outputCommitterClass": "x.Y", "spark.sql.files.x.class": "x.Y",
    "spark.sql.parquet.output.committer.class": "x.Y",
    "spark.sql.adaptive.customCostEvaluatorClass": "x.Y",
    "spark.dynamicAllocation.x": 1, "spark.driver.memory": "1g -agentlib:x",
    "spark.local.ip": "0.0.0.0", "spark.history.ui.port": 1, "spark.shuffle.manager": "x.Y",
    "spark.io.compression.codec": "x.Y", "spark.redaction.regex": "(a+)+",
    "spark.authenticate": False,
    "spark.worker.resourcesFile": "/x", "spark.driver.resource.gpu.discoveryScript": "/x",
    "spark.kubernetes.container.image": "x", "spark.network.crypto.enabled": False,
}  # fmt: skip


@pytest.mark.parametrize("name", HARMLESS)
def test_sizes_and_speeds_need_no_trust(name: str, tmp_path: Path) -> None:
    assert is_plain(name, HARMLESS[name])
    path = job_with(tmp_path, "jdbc:h2:mem:x", f"[spark]\n{spark_line(name, HARMLESS[name])}\n")
    jobs.load(path)


def spark_line(name: str, value: object) -> str:
    return f"{json.dumps(name)} = {json.dumps(value)}"


@pytest.mark.parametrize("name", RISKY)
def test_other_settings_need_trust(name: str, tmp_path: Path) -> None:
    path = job_with(tmp_path, "jdbc:h2:mem:x", f"[spark]\n{spark_line(name, RISKY[name])}\n")
    with pytest.raises(jobs.JobError, match="--allow-python"):
        jobs.load(path)
    jobs.load(path, allow_python=True)


def test_a_page_for_all_interfaces_needs_trust(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    setting = '[spark]\n"spark.ui.bindAddress" = "0.0.0.0"\n'
    path = job_with(tmp_path, "jdbc:h2:mem:x", setting)
    assert cli.main(["check", str(path)]) == 2
    assert "spark.ui.bindAddress may make Spark load code or open a port" in capsys.readouterr().err


def test_no_setting_names_code_or_addresses() -> None:
    """A list of names that are allowed, and none that says what such names say."""
    odd = ("class", "port", "address", "host", "java", "jar", "plugin", "listener", "url", "filter")
    pushdown = "spark.sql.parquet.filterPushdown"
    assert [n for n in SETTINGS if any(o in n.lower() for o in odd) and n != pushdown] == []
