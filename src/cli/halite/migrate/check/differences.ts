// What works here, but not quite as with Salt: the rows of docs/differences.md that an existing installation can meet,
// by what it would have written. Each is for the person who decides, so it says what to look at.
import { asText, isDict, type Value } from '../../../../base/codec/value.ts';

interface Noted {
  readonly verdict: 'differs' | 'missing';
  readonly why: string;
}

type Rule = string | ((value: Value) => Noted | undefined);
const differs = (why: string): Noted => ({ verdict: 'differs', why });
const missing = (why: string): Noted => ({ verdict: 'missing', why });

const ofMaster: Readonly<Record<string, Rule>> = {
  cluster_id: (value) =>
    value ? missing("Salt's own cluster of masters is refused at start: use the option cluster") : undefined,
  cluster_peers: (value) =>
    Array.isArray(value) && value.length > 0 ? missing('see cluster_id: use the option cluster') : undefined,
  eauth_tokens: (value) => {
    if (value === 'localfs') return undefined;
    return value === 'rediscluster'
      ? differs('tokens are stored in another form there: users log in again')
      : missing('tokens are files (localfs), or in sqlite, redis or rediscluster');
  },
  'keys.cache_driver': (value) =>
    value === 'localfs_key'
      ? undefined
      : missing('keys are read from files only: write each to minions/<id> in pki_dir'),
  keep_jobs: 'also counts for the history in halite.db',
  keep_jobs_seconds: 'also counts for the history in halite.db',
  peer: 'names without special characters mean that function only; test.* does not include modules whose name begins so',
  peer_run: 'runners that reveal data of others have to be named in full: jobs.* and .* do not include them',
  publisher_acl: 'names mean whole names, and every function of a job has to be permitted, not only one',
  publisher_acl_blacklist: 'is compared with the login name in small letters too',
  reactor:
    'a reaction without target, or with a missing file, is an error event; rules change by reactor.add and delete only',
  sign_pub_messages: (value) => (value === false ? differs('every publish is signed nevertheless') : undefined),
  minimum_auth_version: (value) =>
    Number(value) < 3 ? differs('works; such minions prove less (docs/security.md#protocol-generations)') : undefined,
  order_masters: 'syndics are accepted when lower_masters allows them',
};

const ofMinion: Readonly<Record<string, Rule>> = {
  reactor: () => missing('minions have no reactor: use the one of the master'),
  thorium_interval: () => missing('there is no thorium: use the reactor'),
  master_type: (value) =>
    asText(value) === 'distributed'
      ? differs('does what Salt meant: the CRC-32 of the id says which master is first')
      : undefined,
  process_count_max: (value) => (Number(value) === -1 ? differs('-1 means 100') : undefined),
  return: (value) => (isDict(value) ? differs('read as the names of the returners') : undefined),
};

/** What is different about an option with this value. */
export function optionDifference(role: 'master' | 'minion', name: string, value: Value): Noted | undefined {
  const table = role === 'master' ? ofMaster : ofMinion;
  const rule = Object.hasOwn(table, name) ? table[name] : undefined;
  return typeof rule === 'function' ? rule(value) : rule === undefined ? undefined : differs(rule);
}

const ofStates: Readonly<Record<string, string>> = {
  'archive.extracted': 'refuses an archive with names or links that lead outside of its destination',
  'file.keyvalue': 'refuses key_values together with key and value; Salt ignores key_values then',
  'file.directory': 'lists files sorted',
  'file.recurse': 'lists files sorted',
  'salt.runner': "is refused in a minion's own run",
  'boto_route53.present': 'fails when there is no such zone',
  'nftables.set_policy': 'a second one changes nothing',
  'git.config_unset': 'succeeds where Salt ends in a KeyError',
  'schedule.present': 'under test=True returns None and the planned changes',
};

const ofModules: Readonly<Record<string, string>> = {
  'cmd.run_chroot': 'refuses / (Salt then ends every process of the machine)',
  'smtp.send_msg': "checks the server's certificate: verify_ssl=False turns that off",
  'user.rename': 'answers True when it worked (Salt: False)',
  'archive.tar': 'refuses archives with names or links that lead outside of the destination when it unpacks',
  'archive.unzip': 'refuses archives with names or links that lead outside of the destination',
  'file.mknod': 'does not change the mode of an existing file',
  'test.version': 'answers 3006.27+halite.…, which version parsers read as the release of Salt',
  'slsutil.deserialize': 'reads 0644 as 644',
};

/** What is different about a function. */
export function functionDifference(kind: 'states' | 'modules', name: string): string | undefined {
  const table = kind === 'states' ? ofStates : ofModules;
  return Object.hasOwn(table, name) ? table[name] : undefined;
}
