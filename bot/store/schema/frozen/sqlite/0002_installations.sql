-- Installations of the app. workspace: the id of a workspace or of an organization. payload: encrypted by the adapter.
CREATE TABLE installation (platform TEXT NOT NULL, workspace TEXT NOT NULL, payload TEXT NOT NULL,
    PRIMARY KEY (platform, workspace)) STRICT, WITHOUT ROWID;

-- Installations that somebody began in a browser. state: the secret that comes back once.
CREATE TABLE installation_state (state TEXT PRIMARY KEY, expires_at REAL NOT NULL) STRICT, WITHOUT ROWID;
CREATE INDEX installation_state_expires_at ON installation_state (expires_at);
