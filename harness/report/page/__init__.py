"""A folder of results as one page to look at: report.html, a self-contained file."""
