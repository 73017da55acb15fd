"""What every room may use: frozen types, kinds, errors, text as offsets, progress, printing."""
