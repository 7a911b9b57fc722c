"""An evolved similarity for nearest neighbours: evidence, formulas, evolution, and the page model."""
