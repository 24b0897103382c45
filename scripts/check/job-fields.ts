// Messages from the wire are read by the message readers, and a job's fields are read through `Job` and `JobReturn`: no
// cast turns a value of a message into an unverified type, and only the edges read maps of jobs.
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Folders through which messages of minions, masters, commands and job processes pass, and where jobs are stored. */
const watched = [
  'src/master',
  'src/minion',
  'src/engine/client',
  'src/engine/exec',
  'src/engine/schedule',
  'src/protocol/job',
  'src/store',
];

/** Files in which a cast does not concern a message, and why. */
const castsAllowed: Readonly<Record<string, string>> = {
  'src/engine/exec/job-messages.ts': 'what the daemon and its own job processes say to each other',
  'src/engine/exec/job-services.ts': 'what the daemon and its own job processes say to each other',
  'src/engine/exec/job-process.ts': 'what the daemon and its own job processes say to each other',
  'src/engine/exec/job-worker.ts': 'what the daemon and its own job processes say to each other',
  'src/engine/exec/orchestration.ts': 'what the master and its own job processes say to each other',
  'src/engine/exec/returners/worker.ts': 'what the daemon and its own returner process say to each other',
  'src/engine/exec/returners/returner-process.ts': 'what the daemon and its own returner process say to each other',
  'src/master/returners/records.ts': 'what the master and its own returner thread say to each other',
  'src/master/returners/worker.ts': 'what the master and its own returner thread say to each other',
  'src/store/sqlite/store.ts': 'what the store and its own threads say to each other',
  'src/store/sqlite/compare.ts': 'what the store and its own threads say to each other',
  'src/store/sqlite/statements.ts': 'what the store and its own threads say to each other',
  'src/store/sqlite/workers.ts': 'what the store and its own threads say to each other',
  'src/store/sqlite/driver.ts': 'a library without types of its own',
  'src/store/sqlite/job-fits.ts': 'conditions that the store itself wrote into its query',
  'src/store/sqlite/written.ts': 'columns that the store itself wrote',
  'src/master/returners/deliver.ts': 'what the master and its own returner thread say to each other',
  'src/minion/services/beacons.ts': 'what the daemon and its own beacon process say to each other',
  'src/master/reactor/arguments.ts': 'a reaction of this master, as its file was rendered',
  'src/master/reactor/compile.ts': 'a reaction of this master, as its file was rendered',
  'src/master/main.ts': 'options of the configuration',
  'src/master/build/ports.ts': 'options of the configuration',
  'src/master/requests/handlers/options.ts': 'options of the configuration',
  'src/master/returners/settings.ts': 'options of the configuration',
  'src/minion/link/network.ts': 'options of the configuration',
};

/** The edges: the only files that read the map of a job, a result or a row, and what that map is. */
const edges: Readonly<Record<string, string>> = {
  'src/master/reactor/call.ts': 'a reaction, as its file was rendered',
  'src/master/reactor/arguments.ts': 'a reaction, as its file was rendered',
  'src/master/authorization/event-rights.ts': 'events on the bus, as their listeners see them',
  'src/master/local/function-call.ts': 'a runner or wheel call on the local socket',
  'src/master/tracking/explain.ts': 'rows of SQL queries',
  'src/master/local/audit.ts': 'rows of SQL queries',
  'src/master/views/job-list.ts': 'rows of SQL queries',
  'src/master/views/job-view.ts': 'rows of SQL queries',
  'src/master/views/recent-jobs.ts': 'rows of SQL queries',
  'src/engine/schedule/entry.ts': 'an entry of a schedule, as it was configured',
  'src/minion/services/services.ts': 'a running job as functions see it',
  'src/store/sqlite/store.ts': 'rows of the store',
  'src/store/sqlite/answer-hash.ts': 'rows of the store',
  'src/store/sqlite/compare.ts': 'rows of the store',
  'src/store/sqlite/tally.ts': 'rows of the store',
  'src/store/sqlite/statements.ts': 'rows of the store',
  'src/store/sqlite/clean.ts': 'rows of the store',
};

const jobFields =
  'jid|fun|arg|tgt|tgt_type|ret|fun_args|retcode|return|ret_config|ret_kwargs|module_executors|returners';

/** `x['name'] as T`, `dictGet(…) as T`, `unpack(…) as T`, a message by its usual names, and every double cast. */
const casts: readonly RegExp[] = [
  /\[\s*'[^']*'\s*\]!?\)*\s+as\s+(?!const\b)/,
  /\bdictGet\((?:[^()]|\([^()]*\))*\)!?\)*\s+as\s+(?!const\b)/,
  /\bunpack\w*\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)\)*\s+as\s+(?!const\b)/,
  /\b(?:load|reply|payload|envelope|argument|message)\s+as\s+(?!const\b)/,
  /\bas\s+unknown\s+as\b/,
];

const reads: readonly RegExp[] = [
  new RegExp(`\\bdictGet\\((?:[^()]|\\([^()]*\\))*,\\s*'(?:${jobFields})'\\s*\\)`),
  // Not of options (`opts['return']`), not of types (`JobReturn['retcode']`), and not where a map is written.
  new RegExp(`(?<!opts|raw|opts\\(\\)|[A-Z]\\w*)(?<=[\\w\\])!.])\\['(?:${jobFields})'\\](?!\\s*=[^=])`),
];

/** One line for each violation: `file:line: what`. */
export function findJobFieldBreaches(root: string): string[] {
  return watched.flatMap((folder) => sourceFiles(join(root, folder)).flatMap((path) => breachesOf(root, path)));
}

function breachesOf(root: string, path: string): string[] {
  const name = relative(root, path).replaceAll('\\', '/');
  const found: string[] = [];
  for (const [at, line] of codeLines(readFileSync(path, 'utf8'))) {
    if (!castsAllowed[name] && casts.some((cast) => cast.test(line)))
      found.push(`${name}:${at}: a cast of what a message holds; read it with protocol/wire/messages`);
    if (!edges[name] && reads.some((read) => read.test(line)))
      found.push(`${name}:${at}: a field of a job read from a map; read the map once into Job or JobReturn`);
  }
  return found;
}

/** The lines of a file with their numbers, without comments. */
function codeLines(text: string): [number, string][] {
  const bare = text.replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ''));
  return bare.split('\n').map((line, at) => [at + 1, line.replace(/^\s*\/\/.*$/, '')]);
}

function sourceFiles(folder: string): string[] {
  let entries: string[] = [];
  try {
    entries = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  } catch {
    return [];
  }
  const isSource = (name: string): boolean => name.endsWith('.ts') && !/(\.test|\.gen|testing)\.ts$/.test(name);
  return entries
    .filter(isSource)
    .map((name) => join(folder, name))
    .sort();
}
