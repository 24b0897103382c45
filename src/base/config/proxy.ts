// Loads the configuration of a proxy minion: that of a minion, with files, folders and defaults of its own. All proxies of a
// machine share one key pair, so `pki_dir` does not get the id.

import type { PlainDict } from '../codec/value.ts';
import { HaliteError } from '../errors/index.ts';
import { prepareMinion } from './minion.ts';
import { minionOptions } from './options/index.ts';
import { type MinionOpts, sealOpts } from './opts.ts';
import { applyCommandLine } from './prepare.ts';
import type { LoadedConfig, LoadRequest } from './request.ts';
import { deferredOptions } from './shape.ts';

/** Salt's defaults for proxies where they differ from those of minions. */
const defaults: Readonly<PlainDict> = {
  conf_file: '/etc/salt/proxy',
  log_file: '/var/log/salt/proxy',
  pidfile: '/var/run/salt-proxy.pid',
  pki_dir: '/etc/salt/pki/proxy',
  cachedir: '/var/cache/salt/proxy',
  sock_dir: '/var/run/salt/proxy',
  extension_modules: '/var/cache/salt/proxy/extmods',
  default_include: 'proxy.d/*.conf',
  append_minionid_config_dirs: ['cachedir', 'pidfile', 'default_include', 'extension_modules'],
  add_proxymodule_to_opts: false,
  proxy_merge_grains_in_module: true,
  proxy_merge_pillar_in_opts: false,
  proxy_deep_merge_pillar_in_opts: false,
  proxy_merge_pillar_in_opts_strategy: 'smart',
  proxy_mines_pillar: true,
  proxy_always_alive: true,
  proxy_keep_alive: true,
  proxy_keep_alive_interval: 1,
  proxy_call_timeout: 600,
};

/** `id`: what `--proxyid` names. */
export function loadProxyConfig(request: LoadRequest, id: string): LoadedConfig<MinionOpts> {
  if (id === '')
    throw new HaliteError('config.value', 'salt-proxy needs the id of the proxy: --proxyid', {
      hint: 'Give it on the command line: salt-proxy --proxyid=router1',
    });
  const { opts, given, report } = prepareMinion({ ...request, minionId: id, strictIncludes: true }, { id, defaults });
  applyCommandLine(opts, request, minionOptions, report);
  opts['proxyid'] = opts['id']!;
  return { opts: sealOpts(opts, given), given, deferred: deferredOptions(opts), ...report };
}
