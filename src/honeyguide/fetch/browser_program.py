"""Which browser there is, and how it is started: one that can reach nothing by itself.

The browser is given a proxy at an address where nobody listens, and a resolver that knows no name. So what is
not intercepted (prefetching, shared workers, WebRTC, reports, updates) fails on this machine. UDP without a
proxy is switched off, which leaves WebRTC and QUIC nothing.
"""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path
from typing import Final

PROGRAM: Final = "HONEYGUIDE_BROWSER"
"""Environment variable: the path of a Chromium. Not in topic files: they may come from strangers."""
SANDBOX: Final = "HONEYGUIDE_BROWSER_SANDBOX"
"""Environment variable: `off` starts Chromium without its sandbox."""
OWN: Final = "playwright"
"""Stands for the browser that Playwright installed."""
_NAMES: Final = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome")
_OFF: Final = (
    *("SpeculationRulesPrefetchFuture", "Prerender2", "PrefetchPrivacyChanges", "WebTransport", "Reporting"),
    *("NetworkErrorLogging", "WebRtcHideLocalIpsWithMdns", "MediaRouter", "OptimizationHints", "Translate"),
    *(
        "InterestFeedContentSuggestions",
        "AutofillServerCommunication",
        "CertificateTransparencyComponentUpdater",
    ),
    *("SharedArrayBuffer", "FedCm", "WebUSB", "WebBluetooth", "BackgroundFetch"),
)


def has_playwright() -> bool:
    """Whether the extra `browser` is installed."""
    return importlib.util.find_spec("playwright") is not None


def find_browser() -> str:
    """The browser's program: a path, `OWN` for Playwright's, or empty where there is none."""
    if named := os.environ.get(PROGRAM):
        return named if shutil.which(named) else ""
    found = next((path for name in _NAMES if (path := shutil.which(name))), "")
    if found or not has_playwright():
        return found
    return OWN if any(browsers_folder().glob("chromium*-*/*/")) else ""


def browsers_folder() -> Path:
    """Where Playwright keeps the browsers that it installed."""
    named = os.environ.get("PLAYWRIGHT_BROWSERS_PATH")
    return Path(named) if named else Path.home() / ".cache" / "ms-playwright"


def sandboxed() -> bool:
    """Whether Chromium runs in its sandbox: always, but for root, whom it refuses, and where set `off`."""
    return os.geteuid() != 0 and os.environ.get(SANDBOX, "").lower() not in ("off", "0", "no", "false")


def arguments(dead_port: int, *, sandbox: bool) -> list[str]:
    """The command line that keeps a Chromium to itself.

    Args:
        dead_port: A port of this machine at which nobody listens.
        sandbox: Whether it runs in its sandbox. Without one, scripts are interpreted only: the compiler is
            what most attacks on browsers go through.
    """
    return [
        f"--proxy-server=http://127.0.0.1:{dead_port}",
        "--proxy-bypass-list=<-loopback>",
        "--host-resolver-rules=MAP * ~NOTFOUND",
        "--disable-quic",
        "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--webrtc-ip-handling-policy=disable_non_proxied_udp",
        "--no-pings",
        "--dns-prefetch-disable",
        "--disable-background-networking",
        "--disable-domain-reliability",
        "--disable-component-update",
        "--disable-sync",
        "--disable-gpu",
        "--disable-3d-apis",
        "--disable-notifications",
        "--disable-file-system",
        "--mute-audio",
        "--deny-permission-prompts",
        f"--disable-features={','.join(_OFF)}",
        "--disable-blink-features=WebBluetooth,WebUSB,Serial,WebHID,WebNFC",
        "--js-flags=--max-old-space-size=512" + ("" if sandbox else " --jitless"),
        *([] if sandbox else ["--no-sandbox"]),
    ]
