"""docs/scale.md says what its command prints; the Kubernetes manifest is one that KubeRay takes."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import yaml  # type: ignore[import-untyped]

ROOT = Path(__file__).parents[2]


def test_the_table_is_what_the_command_prints(tmp_path: Path) -> None:
    page = tmp_path / "scale.md"
    page.write_text((ROOT / "docs" / "scale.md").read_text(encoding="utf-8"), encoding="utf-8")
    command = [sys.executable, str(ROOT / "benchmarks" / "at_scale.py"), "--write", str(page)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    assert "| shards | 100 | 1,000 |" in told
    assert page.read_text(encoding="utf-8") == (ROOT / "docs" / "scale.md").read_text(encoding="utf-8")


def test_twice_the_price_is_twice_the_cost() -> None:
    def compute(*options: str) -> int:
        command = [sys.executable, str(ROOT / "benchmarks" / "at_scale.py"), "--pages", "1e9", *options]
        told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        found = re.search(r"\| compute \| \$([\d,]+) \|", told)
        assert found is not None
        return int(found[1].replace(",", ""))

    assert abs(compute("--vcpu-hour", "0.08") - 2 * compute("--vcpu-hour", "0.04")) <= 2


def test_the_kubernetes_manifest() -> None:
    text = (ROOT / "deploy" / "ray-job.yaml").read_text()
    job, claim = yaml.safe_load_all(text)
    assert (job["apiVersion"], job["kind"]) == ("ray.io/v1", "RayJob")
    cluster = job["spec"]["rayClusterSpec"]
    pinned = re.search(r"^ray==(\S+)$", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    assert pinned is not None
    assert cluster["rayVersion"] == pinned[1]
    (workers,) = cluster["workerGroupSpecs"]
    groups = [cluster["headGroupSpec"], workers]
    for group in groups:
        spec = group["template"]["spec"]
        (container,) = spec["containers"]
        mounted = {mount["name"] for mount in container["volumeMounts"]}
        assert mounted == {volume["name"] for volume in spec["volumes"]} == {"data"}
        assert spec["volumes"][0]["persistentVolumeClaim"]["claimName"] == claim["metadata"]["name"]
        assert container["resources"]["limits"] == container["resources"]["requests"]
        assert spec["securityContext"]["runAsNonRoot"] is True
    assert claim["spec"]["accessModes"] == ["ReadWriteMany"]
    cores = int(workers["template"]["spec"]["containers"][0]["resources"]["limits"]["cpu"])
    shards = re.search(r"--shards (\d+)", job["spec"]["entrypoint"])
    assert shards is not None
    assert int(shards[1]) == cores * workers["replicas"]
    assert workers["minReplicas"] == workers["maxReplicas"] == workers["replicas"]
