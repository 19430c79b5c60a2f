-- online: adds a table.
-- Access tokens of programs. A subject is a person of a workspace, or a space of the terminal; digest: SHA-256 of the
-- secret, which is not stored.
CREATE TABLE access_token (id text COLLATE "C" PRIMARY KEY, name text COLLATE "C" NOT NULL,
    platform text COLLATE "C" NOT NULL, workspace text COLLATE "C" NOT NULL, person text COLLATE "C" NOT NULL,
    space text COLLATE "C" NOT NULL, permissions text COLLATE "C" NOT NULL, requests_per_minute bigint NOT NULL,
    created_at bigint NOT NULL, expires_at bigint, used_at bigint, digest text COLLATE "C" NOT NULL);
