"""Running experiments: from an experiment file to tables, figures and the quality gate."""
