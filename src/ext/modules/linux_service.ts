// Execution module `service`: services of machines with scripts in /etc/init.d (System V, OpenRC without its tools).

import { commandError, defineModule, fn, isProxyMinion, type ModuleContext, newDict, p, type Value } from 'halite/sdk';
import { isExecutable, pathExists, readdirSync } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';
import { lines, matchesGlob } from 'halite/sdk/text';
import {
  bootFunctions,
  serviceKwargs as kwargs,
  serviceName as name,
  readingServices,
  readingUnits,
} from './shared/service-functions.ts';
import { unitFunctions } from './systemd_service/index.ts';
import { isBooted } from './systemd_service/systemctl.ts';

const folder = '/etc/init.d';

/** Scripts that are services: executable ones, without helpers. */
function scripts(): string[] {
  if (!pathExists(folder)) return [];
  const helpers = ['rc', 'rcS', 'functions', 'skeleton', 'README', 'halt', 'reboot', 'single', 'killall'];
  return readdirSync(folder)
    .filter((entry) => !helpers.includes(entry) && isExecutable(`${folder}/${entry}`))
    .sort();
}

/** `service name verb`, or the script itself. */
async function run(service: string, verb: string, ctx: ModuleContext): Promise<number> {
  const tool = which('service');
  if (!scripts().includes(service)) throw commandError(`Service ${service} is not available`);
  const [file, args] = tool === null ? [`${folder}/${service}`, [verb]] : [tool, [service, verb]];
  const { retcode } = await ctx.exec(file, args, { env: { LC_ALL: 'C' } });
  return retcode;
}

/** Whether links start a service in a usual run level. */
function isLinked(service: string): boolean {
  return ['2', '3', '4', '5'].some((level) =>
    [`/etc/rc${level}.d`, `/etc/rc.d/rc${level}.d`].some(
      (place) =>
        pathExists(place) && readdirSync(place).some((entry) => /^S\d\d/.test(entry) && entry.slice(3) === service),
    ),
  );
}

/** Enables or disables a service at boot, with the tool that is installed. */
async function setBoot(service: string, on: boolean, ctx: ModuleContext): Promise<boolean> {
  if (!scripts().includes(service)) throw commandError(`Service ${service} is not available`);
  const tools: [string, string[][]][] = [
    ['chkconfig', [on ? ['--add', service] : [], [service, on ? 'on' : 'off']]],
    [
      'update-rc.d',
      on
        ? [
            [service, 'defaults'],
            [service, 'enable'],
          ]
        : [[service, 'disable']],
    ],
    ['rc-update', [[on ? 'add' : 'delete', service, 'default']]],
  ];
  for (const [tool, commands] of tools) {
    const path = which(tool);
    if (path === null) continue;
    for (const args of commands.filter((words) => words.length > 0)) {
      const { retcode, stderr } = await ctx.exec(path, args, { env: { LC_ALL: 'C' } });
      if (retcode !== 0) throw commandError(stderr.trim() || `${tool} failed`);
    }
    return true;
  }
  throw commandError('Neither chkconfig, update-rc.d nor rc-update was found');
}

async function isRunning(service: string, ctx: ModuleContext): Promise<boolean> {
  return scripts().includes(service) && (await run(service, 'status', ctx)) === 0;
}

const verb = (word: string, doc: string) =>
  fn({
    doc,
    examples: [`salt '*' service.${word} <service name>`],
    params: { name, kwargs },
    run: async (args, ctx) => (await run(args.name, word.replace('_', '-'), ctx)) === 0,
  });

export default defineModule({
  name: 'linux_service',
  virtualName: 'service',
  doc: 'Services of machines with scripts in /etc/init.d.',
  available: ({ opts }) =>
    (!isProxyMinion(opts) && process.platform === 'linux' && !isBooted() && pathExists(folder)) ||
    'The linux_service module could not be loaded: there is no /etc/init.d, or the system was booted with systemd',
  reads: [...readingServices, ...readingUnits],
  functions: {
    start: verb('start', 'Starts a service.'),
    stop: verb('stop', 'Ends a service.'),
    restart: verb('restart', 'Starts a service again.'),
    reload: verb('reload', 'Lets a service read its configuration again.'),
    force_reload: verb('force_reload', 'Lets a service read its configuration again, by a new start if need be.'),
    status: fn({
      doc: 'Whether a service runs; a dictionary for a glob.',
      examples: ["salt '*' service.status <service name>"],
      params: {
        name,
        sig: p.string({
          default: null,
          falsy: null,
          doc: 'text to search in the process list, instead of using the script',
        }),
        kwargs,
      },
      async run(args, ctx): Promise<Value> {
        if (args.sig) {
          const { stdout } = await ctx.exec(which('ps') ?? 'ps', ['-eo', 'args=']);
          return lines(stdout).some((line) => line.includes(String(args.sig)));
        }
        if (!/[*?[]/.test(args.name)) return isRunning(args.name, ctx);
        const found = newDict();
        for (const service of scripts().filter((one) => matchesGlob(one, args.name)))
          found[service] = await isRunning(service, ctx);
        return found;
      },
    }),
    ...bootFunctions({
      names: scripts,
      isEnabled: isLinked,
      isDisabled: (service) => scripts().includes(service) && !isLinked(service),
    }),
    enable: fn({
      doc: 'Enables a service at boot.',
      examples: ["salt '*' service.enable <service name>"],
      params: { name, kwargs },
      run: (args, ctx) => setBoot(args.name, true, ctx),
    }),
    disable: fn({
      doc: 'Disables a service at boot.',
      examples: ["salt '*' service.disable <service name>"],
      params: { name, kwargs },
      run: (args, ctx) => setBoot(args.name, false, ctx),
    }),
    ...unitFunctions,
  },
});
