// Words that have a meaning in every state: requisites, their `_in` forms, and what the runtime itself reads.

export const requisites: ReadonlySet<string> = new Set([
  'onchanges',
  'onchanges_any',
  'onfail',
  'onfail_any',
  'onfail_all',
  'onfail_stop',
  'prereq',
  'prerequired',
  'watch',
  'watch_any',
  'require',
  'require_any',
  'listen',
]);

export const requisitesIn: ReadonlySet<string> = new Set([
  'onchanges_in',
  'onfail_in',
  'prereq_in',
  'watch_in',
  'require_in',
  'listen_in',
]);

const runtime = [
  ...['fun', 'state', 'check_cmd', 'cmd_opts_exclude', 'failhard', 'onlyif', 'unless', 'creates', 'retry', 'order'],
  ...['parallel', 'prereq', 'prereq_in', 'prerequired', 'reload_modules', 'reload_grains', 'reload_pillar', 'runas'],
  ...['runas_password', 'provider', 'fire_event', 'saltenv', 'umask', 'use', 'use_in', '__env__', '__sls__', '__id__'],
  ...['__orchestration_jid__', '__pub_user', '__pub_arg', '__pub_jid', '__pub_fun', '__pub_tgt', '__pub_ret'],
  ...['__pub_pid', '__pub_tgt_type', '__prereq__', '__prerequired__', '__umask__'],
];

/** Keys of a chunk that are not arguments of the function, unless it declares them. */
export const internalKeywords: ReadonlySet<string> = new Set([...requisites, ...requisitesIn, ...runtime]);
