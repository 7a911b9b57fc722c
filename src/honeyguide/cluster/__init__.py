"""A crawl on more than one machine: who owns a host, the shards' folder, one result of many."""
