// A master with users of external authentication, and calls in their names.
import { writeFileSync } from 'node:fs';
import type { PlainDict, Value } from '../../src/base/codec/value.ts';
import { Deployment } from './deployment.ts';
import { type Answer, LocalCaller } from './local-caller.ts';

export type Fields = Record<string, Value>;

export const usersConfig = (folder: string): string => `
sharedsecret: 'of all'
external_auth:
  sharedsecret:
    ann: ['.*', '@runner', '@wheel']
    fred:
      - sys.list_functions
      - m1:
        - test.ping
        - test.echo:
          - args: ['ok']
      - 'G@role:web':
        - test.version
      - 'I@class:gold':
        - test.sleep
      - '@jobs'
      - '@runner': ['manage.up', {'test.arg': {args: ['good'], kwargs: {color: 'blue'}}}]
      - '@wheel': ['key.list_all']
    clerk: [{'@wheel': ['key.*']}]
    everyping: [test.ping]
    limited: [{m1: ['test.*']}]
  file:
    ^filename: ${folder}/users
    root: ['test.ping']
    'deploy|ops.*': [{'m*': [test.ping]}]
    '*': [test.version]
  auto:
    late: [test.ping]
token_expire_user_override: {sharedsecret: [fred]}
publisher_acl_blacklist:
  users: [mallory]
  modules: [cmd.script]
nodegroups:
  mine: m1
`;

/** Minions m1 and m2, of which m1 has the grain and the pillar that the rules name. */
export async function startUsers(configure: (fleet: Deployment) => void = () => undefined): Promise<Deployment> {
  const fleet = await Deployment.create();
  writeFileSync(fleet.path('etc/master.d/eauth.conf'), usersConfig(fleet.root));
  configure(fleet);
  writeFileSync(fleet.path('users'), 'root:pw of root\nops1:pw\nother:pw\n', { mode: 0o600 });
  writeFileSync(fleet.path('srv/pillar/top.sls'), 'base: {m1: [gold]}\n');
  writeFileSync(fleet.path('srv/pillar/gold.sls'), 'class: gold\n');
  await fleet.startMaster();
  fleet.startMinion('m1', undefined, 'grains: {role: web}');
  fleet.startMinion('m2');
  await fleet.answering('m1', 'm2');
  return fleet;
}

export const as = (username: string, password: Value = 'of all', eauth: Value = 'sharedsecret'): Fields => ({
  eauth,
  username,
  password,
});

/** Results by minion. */
export const returned = (items: readonly PlainDict[]): PlainDict =>
  Object.fromEntries(items.filter(({ type }) => type === 'return').map(({ id, ret }) => [String(id), ret as Value]));

/** A connection belongs to one user, so each call has its own. */
export async function askAs(fleet: Deployment, verb: string, fields: Fields): Promise<Answer> {
  const caller = await LocalCaller.anonymous(fleet);
  try {
    return await caller.call(verb, fields);
  } finally {
    caller.close();
  }
}

export const publishAs = (fleet: Deployment, who: Fields, fields: Fields): Promise<Answer> =>
  askAs(fleet, 'publish', { ...who, tgt: 'm1', tgt_type: 'glob', fun: 'test.ping', arg: [], timeout: 10, ...fields });
