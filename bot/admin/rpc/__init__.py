"""Operations run by the process that owns the data folder: a Unix socket, its wire."""
