// The SQLite schema: our tables, and views with the names and columns that readers of Salt's MySQL tables know.
export const schemaVersion = 1;

export const schema = `
CREATE TABLE IF NOT EXISTS job (
  jid TEXT PRIMARY KEY, fun TEXT NOT NULL, tgt TEXT NOT NULL, tgt_type TEXT NOT NULL, user TEXT NOT NULL,
  load TEXT NOT NULL, expected TEXT NOT NULL, started INTEGER NOT NULL, internal INTEGER NOT NULL
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS job_started ON job (started);

CREATE TABLE IF NOT EXISTS ret (
  jid TEXT NOT NULL, id TEXT NOT NULL, fun TEXT NOT NULL, retcode INTEGER NOT NULL, success INTEGER NOT NULL,
  full_ret TEXT NOT NULL, received INTEGER NOT NULL,
  PRIMARY KEY (jid, id)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS ret_id ON ret (id, received);
CREATE INDEX IF NOT EXISTS ret_fun ON ret (fun, received);

CREATE TABLE IF NOT EXISTS verdict (
  jid TEXT NOT NULL, id TEXT NOT NULL, verdict TEXT NOT NULL, reason TEXT NOT NULL, text TEXT NOT NULL,
  evidence TEXT NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (jid, id)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS minion_data (id TEXT PRIMARY KEY, grains TEXT NOT NULL, pillar TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS mine (id TEXT PRIMARY KEY, data TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS pending (jid TEXT NOT NULL, id TEXT NOT NULL, until INTEGER NOT NULL, PRIMARY KEY (jid, id)) WITHOUT ROWID;

CREATE VIEW IF NOT EXISTS jids AS SELECT jid, load FROM job;
CREATE VIEW IF NOT EXISTS salt_returns AS
  SELECT fun, jid, json_extract(full_ret, '$.return') AS "return", id, CAST(success AS TEXT) AS success, full_ret,
         datetime(received / 1000, 'unixepoch', 'localtime') AS alter_time
  FROM ret;
PRAGMA user_version = ${schemaVersion};
`;
