// Execution module `nginx`: version, configuration test, signals and status of a web server.
import { defineModule, fn, newDict, p, type Value } from 'halite/sdk';
import { which } from 'halite/sdk/system';
import { lines, words } from 'halite/sdk/text';
import { httpCall } from '../shared/http/request.ts';
import { command } from './shared/command.ts';

const program = (): string => which('nginx') ?? 'nginx';
const signals = ['start', 'reopen', 'stop', 'quit', 'reload'];

/** The four lines of the status page. */
export function parseStatus(text: string): Value {
  const rows = lines(text).map(words);
  if (rows.length !== 4) return null;
  const [first = [], , third = [], fourth = []] = rows;
  const names = ['active connections', 'accepted', 'handled', 'requests', 'reading', 'writing', 'waiting'];
  const values = [first[2], ...third, fourth[1], fourth[3], fourth[5]];
  return newDict(names.map((name, index) => [name, Number(values[index])]));
}

export default defineModule({
  name: 'nginx',
  doc: 'Version, configuration test, signals and status of nginx.',
  available: () => which('nginx') !== null || 'The nginx execution module cannot be loaded: nginx is not installed.',
  reads: ['version', 'build_info', 'configtest', 'status'],
  functions: {
    version: fn({
      doc: 'The version.',
      examples: ["salt '*' nginx.version"],
      async run(_, ctx) {
        const { stdout, stderr } = await command(ctx, [program(), '-v']);
        return (lines(stdout || stderr)[0] ?? '').replace(/^.*\//s, '');
      },
    }),
    build_info: fn({
      doc: 'The build options.',
      examples: ["salt '*' nginx.build_info"],
      async run(_, ctx) {
        const { stdout, stderr } = await command(ctx, [program(), '-V']);
        const info: string[] = [];
        const found = newDict([['info', info]]);
        for (const line of lines(stdout || stderr)) {
          if (line.startsWith('configure argument')) {
            found['build arguments'] = (line.match(/(?:\S*'.*')|(?:\S+)/g) ?? []).slice(2);
          } else info.push(line);
        }
        return found;
      },
    }),
    configtest: fn({
      doc: 'Whether the configuration is valid.',
      examples: ["salt '*' nginx.configtest"],
      async run(_, ctx) {
        const { retcode, stderr } = await command(ctx, [program(), '-t']);
        return newDict(
          Object.entries(
            retcode === 0
              ? { comment: 'Syntax OK', stdout: stderr, result: true }
              : { comment: 'Syntax Error', stderr, result: false },
          ),
        );
      },
    }),
    signal: fn({
      doc: 'Starts the server, or sends it a signal: reopen, stop, quit, reload.',
      examples: ["salt '*' nginx.signal reload"],
      params: { signal: p.string({ default: null, doc: 'which one' }) },
      async run({ signal }, ctx) {
        if (typeof signal !== 'string' || !signals.includes(signal)) return null;
        const argv = signal === 'start' ? [program()] : [program(), '-s', signal];
        const { stdout, stderr } = await command(ctx, argv);
        return stderr.trim() || stdout.trim() || `Command: "${argv.join(' ')}" completed successfully!`;
      },
    }),
    status: fn({
      doc: 'Connections and requests, from the status page.',
      examples: ["salt '*' nginx.status"],
      params: { url: p.string({ default: 'http://127.0.0.1/status', doc: 'the page' }) },
      async run({ url }, ctx) {
        const call = { service: 'nginx', url, redirects: 5, signal: ctx.signal };
        return parseStatus((await httpCall(call)).text);
      },
    }),
  },
});
