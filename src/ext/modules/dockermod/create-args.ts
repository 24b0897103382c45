// Translates Salt's options of a container to options of `docker create`.
import { cleanKwargs, dictEntries, invocationError, isDict, type PlainDict, pyStr, type Value } from 'halite/sdk';
import { shellSplit } from 'halite/sdk/text';

/** Other names of options. */
const aliases: Readonly<Record<string, string>> = {
  ...{ env: 'environment', cmd: 'command', publish: 'port_bindings', volume: 'binds', restart: 'restart_policy' },
  ...{
    label: 'labels',
    memory: 'mem_limit',
    memory_swap: 'memswap_limit',
    net: 'network_mode',
    network: 'network_mode',
  },
  ...{ workdir: 'working_dir', interactive: 'stdin_open', rm: 'auto_remove', link: 'links', device: 'devices' },
  ...{ add_host: 'extra_hosts', ulimit: 'ulimits', pid: 'pid_mode', ipc: 'ipc_mode', userns: 'userns_mode' },
  ...{ cpu_set: 'cpuset_cpus', log_opts: 'log_opt', expose: 'ports', sysctl: 'sysctls', dns_option: 'dns_opt' },
  ...{ publish_all: 'publish_all_ports', domain_name: 'domainname', tmpfs_mounts: 'tmpfs', envfile: 'env_file' },
};

/** Options with one value. */
const single: Readonly<Record<string, string>> = {
  ...{
    hostname: '--hostname',
    domainname: '--domainname',
    user: '--user',
    working_dir: '--workdir',
    mac_address: '--mac-address',
  },
  ...{ network_mode: '--network', restart_policy: '--restart', mem_limit: '--memory', memswap_limit: '--memory-swap' },
  ...{ cpu_shares: '--cpu-shares', cpuset_cpus: '--cpuset-cpus', cpu_period: '--cpu-period', cpu_quota: '--cpu-quota' },
  ...{
    shm_size: '--shm-size',
    pid_mode: '--pid',
    ipc_mode: '--ipc',
    userns_mode: '--userns',
    log_driver: '--log-driver',
  },
  ...{
    stop_signal: '--stop-signal',
    stop_timeout: '--stop-timeout',
    runtime: '--runtime',
    cgroup_parent: '--cgroup-parent',
  },
  ...{
    volume_driver: '--volume-driver',
    isolation: '--isolation',
    pids_limit: '--pids-limit',
    blkio_weight: '--blkio-weight',
  },
  ...{
    mem_swappiness: '--memory-swappiness',
    mem_reservation: '--memory-reservation',
    oom_score_adj: '--oom-score-adj',
  },
};
/** Options that may be repeated. */
const several: Readonly<Record<string, string>> = {
  ...{ binds: '--volume', volumes: '--volume', port_bindings: '--publish', ports: '--expose', environment: '--env' },
  ...{
    env_file: '--env-file',
    labels: '--label',
    links: '--link',
    devices: '--device',
    dns: '--dns',
    dns_opt: '--dns-option',
  },
  ...{
    dns_search: '--dns-search',
    extra_hosts: '--add-host',
    ulimits: '--ulimit',
    cap_add: '--cap-add',
    cap_drop: '--cap-drop',
  },
  ...{ security_opt: '--security-opt', sysctls: '--sysctl', tmpfs: '--tmpfs', volumes_from: '--volumes-from' },
  ...{ log_opt: '--log-opt', group_add: '--group-add', storage_opt: '--storage-opt' },
};
const flags: Readonly<Record<string, string>> = {
  ...{
    privileged: '--privileged',
    tty: '--tty',
    stdin_open: '--interactive',
    read_only: '--read-only',
    init: '--init',
  },
  ...{ auto_remove: '--rm', publish_all_ports: '--publish-all', oom_kill_disable: '--oom-kill-disable' },
};
/** Options without a meaning for the client. */
const ignored = ['detach', 'client_timeout', 'skip_translate', 'ignore_collisions', 'validate_ip_addrs', 'networks'];

/** The separator between key and value of a dictionary. */
const joints: Readonly<Record<string, string>> = {
  links: ':',
  extra_hosts: ':',
  binds: ':',
  port_bindings: ':',
  tmpfs: ':',
};

/** A list, text with commas, a dictionary or a list of those: one text each. */
function items(name: string, value: Value): string[] {
  const joint = joints[name] ?? '=';
  const pair = ([key, inner]: [Value, Value]): string => {
    // `/data: {bind: /srv, mode: ro}` is the older form of a mount.
    if (isDict(inner)) {
      const parts = new Map(dictEntries(inner).map(([k, v]) => [pyStr(k), pyStr(v)]));
      return [pyStr(key), parts.get('bind') ?? '', parts.get('mode') ?? (parts.get('ro') === 'True' ? 'ro' : '')]
        .filter((part) => part !== '')
        .join(':');
    }
    return inner === null ? pyStr(key) : `${pyStr(key)}${joint}${pyStr(inner)}`;
  };
  if (isDict(value)) return dictEntries(value).map(pair);
  // Values of variables may contain commas.
  const list = Array.isArray(value) ? value : name === 'environment' ? [value] : pyStr(value).split(',');
  return list.flatMap((item) => (isDict(item) ? dictEntries(item).map(pair) : [pyStr(item).trim()]));
}

/** Only port numbers and protocols. */
const withoutHost = (text: string): string => text.split(':').at(-1) ?? text;

function words(value: Value): string[] {
  return Array.isArray(value) ? value.map(pyStr) : shellSplit(pyStr(value));
}

function option(name: string, value: Value): string[] {
  if (Object.hasOwn(flags, name)) return value ? [flags[name] as string] : [];
  if (Object.hasOwn(single, name)) return [single[name] as string, pyStr(value)];
  if (!Object.hasOwn(several, name)) throw invocationError(`Invalid argument: '${name}'`);
  const list = items(name, value);
  const shown = name === 'ports' ? list.map(withoutHost) : list;
  return shown.flatMap((item) => [several[name] as string, item]);
}

/** The options, followed by the command of the container. */
export function createArgs(image: string, given: PlainDict): string[] {
  const options: string[] = [];
  let [command, entrypoint]: [string[], string[]] = [[], []];
  for (const [key, value] of Object.entries(cleanKwargs(given))) {
    const name = aliases[key] ?? key;
    if (value === null || ignored.includes(name)) continue;
    if (name === 'command') command = words(value);
    else if (name === 'entrypoint') entrypoint = words(value);
    else options.push(...option(name, value));
  }
  // The client accepts one word as entry point; further words go before the command.
  const [first, ...rest] = entrypoint;
  return [...options, ...(first === undefined ? [] : ['--entrypoint', first]), image, ...rest, ...command];
}
