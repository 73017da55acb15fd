"""The labelling page: people grade passages in a browser on this machine, and their grades become labels."""
