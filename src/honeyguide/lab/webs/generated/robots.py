"""robots.txt and sitemap.xml of generated hosts, and the same rules as a function."""

from __future__ import annotations

from honeyguide.lab.webs.generated.address import Place
from honeyguide.lab.webs.generated.sites import Site
from honeyguide.lab.webs.generated.spec import WebSpec


def robots_text(site: Site, spec: WebSpec) -> str:
    """The host's robots.txt."""
    if site.role == "closed":
        return "User-agent: *\nDisallow: /\n"
    lines = ["User-agent: *", "Disallow: /private/"]
    if site.locked >= 0:
        lines.append(f"Disallow: /{site.slugs[site.locked]}/")
    if site.crawl_delay:
        lines.append(f"Crawl-delay: {spec.crawl_delay_seconds:g}")
    lines += ["", f"Sitemap: http://{site.name}/sitemap.xml", ""]
    return "\n".join(lines)


def disallowed(place: Place) -> bool:
    """Whether the host's robots.txt refuses this place."""
    if place.host.role == "closed" or place.kind == "private":
        return place.kind != "robots"
    locked = place.host.locked
    if locked < 0:
        return False
    if place.kind == "section":
        return place.number == locked
    return place.kind == "article" and place.number % place.host.sections == locked


def sitemap_text(host: str, paths: list[str]) -> str:
    """A sitemap of a host's first pages."""
    entries = "".join(f"<url><loc>http://{host}{path}</loc></url>\n" for path in paths)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n'
    return f"{head}{entries}</urlset>\n"
