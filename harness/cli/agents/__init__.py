"""What the harness does, as tools of the Model Context Protocol, within limits on what is read and spent."""
