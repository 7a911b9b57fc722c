"""From a URL to an answer: HTTP under limits, the egress guard, politeness, robots.txt."""
