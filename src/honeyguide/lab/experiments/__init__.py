"""The experiments that come with Honeyguide; a study's module lies beside its file."""
