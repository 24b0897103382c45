// The SQLite schema: our tables, and views with the names and columns of Salt's MySQL tables.
import type { Database } from './driver.ts';

export const schemaVersion = 6;

export const schema = `
CREATE TABLE IF NOT EXISTS job (
  jid TEXT PRIMARY KEY, fun TEXT NOT NULL, tgt TEXT NOT NULL, tgt_type TEXT NOT NULL, user TEXT NOT NULL,
  load TEXT NOT NULL, expected TEXT NOT NULL, started INTEGER NOT NULL, internal INTEGER NOT NULL, owner INTEGER
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS job_started ON job (started);

-- The jobs of the list of jobs, as it shows them: '"<jid>": {…}'. plain: JSON.parse loses nothing of it.
-- fun, tgt (a JSON list) and meta (JSON) are what the list can be filtered by.
CREATE TABLE IF NOT EXISTS head (
  jid TEXT PRIMARY KEY, plain INTEGER NOT NULL, fun TEXT NOT NULL, tgt TEXT NOT NULL, meta TEXT, text TEXT NOT NULL
) WITHOUT ROWID;

-- No index by minion or function: each row of a job would touch another page of it.
-- place: of the frame in the ledger of the cluster; 0: not of a cluster; -1: the ledger does not have it yet.
-- owner and via are slots of masters, in a cluster.
CREATE TABLE IF NOT EXISTS ret (
  jid TEXT NOT NULL, id TEXT NOT NULL, fun TEXT NOT NULL, retcode INTEGER NOT NULL, success INTEGER NOT NULL,
  full_ret TEXT NOT NULL, received INTEGER NOT NULL,
  attempt INTEGER NOT NULL DEFAULT 1, place INTEGER NOT NULL DEFAULT 0, digest TEXT, via INTEGER,
  PRIMARY KEY (jid, id)
) WITHOUT ROWID;

-- Jobs with results that SQLite's own JSON functions would change (NaN, Infinity).
CREATE TABLE IF NOT EXISTS odd (jid TEXT PRIMARY KEY) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS verdict (
  jid TEXT NOT NULL, id TEXT NOT NULL, verdict TEXT NOT NULL, reason TEXT NOT NULL, text TEXT NOT NULL,
  evidence TEXT NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (jid, id)
) WITHOUT ROWID;

-- data is NULL for results: they are in ret, under jid and minion.
CREATE TABLE IF NOT EXISTS event (
  number INTEGER PRIMARY KEY, tag TEXT NOT NULL, data TEXT, jid TEXT, minion TEXT, at INTEGER NOT NULL
);

-- Who did what. Rows are only added; the oldest are removed when there are very many.
CREATE TABLE IF NOT EXISTS audit (
  number INTEGER PRIMARY KEY, at INTEGER NOT NULL, user TEXT NOT NULL, eauth TEXT NOT NULL, origin TEXT NOT NULL,
  agent TEXT NOT NULL, request TEXT NOT NULL, what TEXT NOT NULL, target TEXT NOT NULL, fun TEXT NOT NULL,
  result TEXT NOT NULL, jid TEXT, key TEXT, digest TEXT
);
CREATE INDEX IF NOT EXISTS audit_key ON audit (key) WHERE key IS NOT NULL;

CREATE TABLE IF NOT EXISTS meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS minion_data (id TEXT PRIMARY KEY, grains TEXT NOT NULL, pillar TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS mine (id TEXT PRIMARY KEY, data TEXT NOT NULL) WITHOUT ROWID;

-- Count and XOR of a hash of all rows by hour and by minute of their jid, in a cluster.
CREATE TABLE IF NOT EXISTS tally (
  kind TEXT NOT NULL, span TEXT NOT NULL, count INTEGER NOT NULL, hash TEXT NOT NULL, PRIMARY KEY (kind, span)
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS pending (jid TEXT NOT NULL, id TEXT NOT NULL, until INTEGER NOT NULL, PRIMARY KEY (jid, id)) WITHOUT ROWID;
`;

/** What tables of an earlier version lack. */
const added: readonly (readonly [table: string, column: string, kind: string])[] = [
  ['job', 'owner', 'INTEGER'],
  ['ret', 'attempt', 'INTEGER NOT NULL DEFAULT 1'],
  ['ret', 'place', 'INTEGER NOT NULL DEFAULT 0'],
  ['ret', 'digest', 'TEXT'],
  ['ret', 'via', 'INTEGER'],
];

export function addColumns(db: Database): void {
  for (const [table, column, kind] of added) {
    const known = db.prepare(`PRAGMA table_info(${table})`).all();
    if (known.some((row) => row['name'] === column)) continue;
    db.exec(`ALTER TABLE ${table} ADD COLUMN ${column} ${kind}`);
  }
}

/** Recreated whenever the version changes. */
export const views = `
DROP INDEX IF EXISTS ret_fun;
DROP INDEX IF EXISTS ret_id;
-- Empty in a store without a cluster.
CREATE INDEX IF NOT EXISTS ret_unplaced ON ret (jid, id) WHERE place < 0;
DROP VIEW IF EXISTS jids;
DROP VIEW IF EXISTS salt_returns;
DROP VIEW IF EXISTS salt_events;
CREATE VIEW jids AS SELECT jid, load FROM job;
CREATE VIEW salt_returns AS
  SELECT fun, jid, full_ret -> '$.return' AS "return", id, CAST(success AS TEXT) AS success, full_ret,
         datetime(received / 1000, 'unixepoch', 'localtime') AS alter_time
  FROM ret;
CREATE VIEW salt_events AS
  SELECT number AS id, tag,
         coalesce(data, (SELECT full_ret FROM ret WHERE ret.jid = event.jid AND ret.id = event.minion), '{}') AS data,
         datetime(at / 1000, 'unixepoch', 'localtime') AS alter_time,
         (SELECT value FROM meta WHERE key = 'master_id') AS master_id
  FROM event;
PRAGMA user_version = ${schemaVersion};
`;
