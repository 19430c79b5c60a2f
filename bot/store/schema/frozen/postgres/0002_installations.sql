-- Installations of the app. workspace: the id of a workspace or of an organization. payload: encrypted by the adapter.
CREATE TABLE installation (platform text COLLATE "C" NOT NULL, workspace text COLLATE "C" NOT NULL,
    payload text COLLATE "C" NOT NULL, PRIMARY KEY (platform, workspace));

-- Installations that somebody began in a browser. state: the secret that comes back once.
CREATE TABLE installation_state (state text COLLATE "C" PRIMARY KEY, expires_at double precision NOT NULL);
CREATE INDEX installation_state_expires_at ON installation_state (expires_at);
