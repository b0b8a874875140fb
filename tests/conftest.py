"""What all tests share: one Ray cluster, one S3 server, the shipped sample, the shared data where they are."""

from __future__ import annotations

import logging
import os
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

REPO = Path(__file__).resolve().parents[1]
S3_BUCKET = "mnemosaic-tests"


@pytest.fixture(scope="session")
def ray_cluster() -> Iterator[str]:
    """A real Ray, for the whole session; yields the address at which other processes join it."""
    import ray

    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    ray.init(
        num_cpus=3,
        include_dashboard=False,
        object_store_memory=256 << 20,
        log_to_driver=False,
        logging_level=logging.WARNING,
    )
    yield ray.get_runtime_context().gcs_address
    ray.shutdown()


def _one_at_a_time(app: Callable[..., Any]) -> Callable[..., Any]:
    """S3 judges a condition and writes in one step; moto does so in two, so its requests must not overlap."""
    lock = threading.Lock()

    def serve(environ: dict[str, Any], start_response: Callable[..., Any]) -> Any:
        with lock:
            return app(environ, start_response)

    return serve


@pytest.fixture(scope="session")
def s3_server() -> Iterator[str]:
    """A moto server on a free loopback port with an empty bucket; yields its URL, to which the AWS variables point."""
    import boto3
    from moto.server import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import make_server

    logging.getLogger("werkzeug").setLevel(logging.ERROR)
    server = make_server("127.0.0.1", 0, _one_at_a_time(DomainDispatcherApplication(create_backend_app)), threaded=True)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{server.server_port}"
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("AWS_PROFILE", raising=False)
        for name, value in _s3_environment(url).items():
            patch.setenv(name, value)
        boto3.session.Session().client("s3").create_bucket(Bucket=S3_BUCKET)
        yield url
    server.shutdown()
    thread.join()


def _s3_environment(url: str) -> dict[str, str]:
    return {
        "AWS_ENDPOINT_URL": url,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_REGION": "us-east-1",
        "AWS_DEFAULT_REGION": "us-east-1",
        "AWS_EC2_METADATA_DISABLED": "true",
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "NO_PROXY": "127.0.0.1,localhost",
        "no_proxy": "127.0.0.1,localhost",
    }


@pytest.fixture
def s3_uri(s3_server: str) -> str:
    """A prefix of its own on the S3 server."""
    assert s3_server
    return f"s3://{S3_BUCKET}/{uuid.uuid4().hex}/store"


@pytest.fixture(scope="session")
def repo() -> Path:
    """The repository's root."""
    return REPO


@pytest.fixture(scope="session")
def sample_histories() -> Path:
    """The folder of the shipped sample: ``<user>.jsonl`` and ``pictures/``."""
    return REPO / "sample" / "histories"


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The shared benchmark data beside the repository; tests that need them skip where they are absent."""
    folder = REPO.parent / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("../shared/data is not here")
    return folder
