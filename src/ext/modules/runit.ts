// Execution module `runit`: services under runit; `service` where runit is the first process.

import { commandError, defineModule, dictGet, fn, type ModuleContext, newDict, p } from 'halite/sdk';
import { existsSync, joinPath, lstatSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';
import {
  bootFunctions,
  serviceKwargs as kwargs,
  serviceName as name,
  readingServices,
} from './shared/service-functions.ts';

/** The folder of running services, and the folders with service definitions. */
const running = ['/run/runit/service', '/var/service', '/etc/service', '/service'];
const known = ['/etc/sv', '/etc/runit/sv'];

const runFolder = (): string => running.find((place) => existsSync(place)) ?? '/var/service';
const entries = (place: string): string[] =>
  existsSync(place)
    ? readdirSync(place)
        .filter((entry) => existsSync(joinPath(place, entry, 'run')))
        .sort()
    : [];
const available = (): string[] => [...new Set([...known.flatMap(entries), ...entries(runFolder())])].sort();
const isEnabled = (service: string): boolean => {
  const place = joinPath(runFolder(), service);
  return existsSync(joinPath(place, 'run')) && !existsSync(joinPath(place, 'down'));
};

async function sv(verb: string, service: string, ctx: ModuleContext): Promise<{ fine: boolean; text: string }> {
  const tool = which('sv');
  if (tool === null) throw commandError('Runit not available. Please install sv');
  const said = await ctx.exec(tool, [verb, joinPath(runFolder(), service)], { env: { LC_ALL: 'C' } });
  return { fine: said.retcode === 0, text: `${said.stdout}${said.stderr}`.trim() };
}

/** `run: /etc/service/x: (pid 12) 30s` → the pid; '' when it is down. */
export const pidIn = (text: string): string => /^run: .*?\(pid (\d+)\)/m.exec(text)?.[1] ?? '';

function enable(service: string, start: boolean): boolean {
  const source = known.map((place) => joinPath(place, service)).find((place) => existsSync(joinPath(place, 'run')));
  const target = joinPath(runFolder(), service);
  if (!source && !existsSync(target)) throw commandError(`Service ${service} is not available`);
  if (source && !lstatSync(target, { throwIfNoEntry: false })) {
    // Without this file runit would start the service immediately.
    if (!start) writeFileSync(joinPath(source, 'down'), '');
    symlinkSync(source, target);
  }
  rmSync(joinPath(target, 'down'), { force: true });
  return true;
}

const verb = (word: string, command: string, doc: string) =>
  fn({
    doc,
    examples: [`salt '*' service.${word} <service name>`],
    params: { name, kwargs },
    run: async (args, ctx) => (await sv(command, args.name, ctx)).fine,
  });

export default defineModule({
  name: 'runit',
  virtualName: 'service',
  doc: 'Services under runit.',
  available: ({ grains }) =>
    (dictGet(grains, 'init') === 'runit' && which('sv') !== null) ||
    'Runit not available: the first process is another one, or sv is missing',
  reads: [...readingServices, 'status_raw'],
  functions: {
    start: verb('start', 'start', 'Starts a service.'),
    stop: verb('stop', 'stop', 'Ends a service.'),
    restart: verb('restart', 'restart', 'Starts a service again.'),
    full_restart: verb('full_restart', 'restart', 'Starts a service again.'),
    reload: verb('reload', 'reload', 'Lets a service read its configuration again.'),
    status: fn({
      doc: 'Whether a service runs.',
      examples: ["salt '*' service.status <service name>"],
      params: { name, sig: p.ignored({ default: null, doc: 'no effect' }), kwargs },
      run: async (args, ctx) => pidIn((await sv('status', args.name, ctx)).text) !== '',
    }),
    status_raw: fn({
      doc: 'The status of a service.',
      examples: ["salt '*' runit.status_raw <service name>"],
      params: { name },
      run: async (args, ctx) => (await sv('status', args.name, ctx)).text,
    }),
    ...bootFunctions({ names: available, isEnabled, isDisabled: (service) => !isEnabled(service) }),
    enable: fn({
      doc: 'Enables a service at boot.',
      examples: ["salt '*' service.enable <service name>"],
      params: { name, start: p.bool({ default: false, doc: 'also now' }), kwargs },
      run: (args) => enable(args.name, args.start),
    }),
    disable: fn({
      doc: 'Disables a service at boot.',
      examples: ["salt '*' service.disable <service name>"],
      params: { name, stop: p.bool({ default: false, doc: 'also stop it' }), kwargs },
      async run(args, ctx) {
        const target = joinPath(runFolder(), args.name);
        if (!existsSync(target)) return available().includes(args.name);
        if (args.stop) await sv('stop', args.name, ctx);
        writeFileSync(joinPath(target, 'down'), '');
        return true;
      },
    }),
    show: fn({
      doc: 'Details of a service.',
      examples: ["salt '*' service.show <service name>"],
      params: { name },
      async run(args, ctx) {
        const path = joinPath(runFolder(), args.name);
        const pid = existsSync(path) ? pidIn((await sv('status', args.name, ctx)).text) : '';
        return newDict([
          ['enabled', isEnabled(args.name)],
          ['available', available().includes(args.name)],
          ['running', pid !== ''],
          ['service_path', path],
        ]);
      },
    }),
  },
});
