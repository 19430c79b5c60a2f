-- What a workspace is told once only.
CREATE TABLE hint (
    platform  TEXT NOT NULL,
    workspace TEXT NOT NULL,
    name      TEXT NOT NULL,
    PRIMARY KEY (platform, workspace, name)
) STRICT, WITHOUT ROWID;
