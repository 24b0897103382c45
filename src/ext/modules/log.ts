// Execution module `log`: writes a line into the minion's log, mostly from templates.
import { defineModule, type ExtensionLog, fn, p } from 'halite/sdk';

const at = (level: keyof ExtensionLog, name: string) =>
  fn({
    doc: `Writes a message into the minion’s log (level ${name}).`,
    examples: [`salt '*' log.${name} 'something happened'`],
    params: { message: p.string() },
    inline: true,
    run({ message }, ctx) {
      ctx.log[level](message);
      return true;
    },
  });

export default defineModule({
  name: 'log',
  doc: 'Writes into the minion’s log, mostly from templates.',
  functions: {
    debug: at('debug', 'debug'),
    info: at('info', 'info'),
    warning: at('warn', 'warning'),
    error: at('error', 'error'),
    critical: at('error', 'critical'),
    exception: at('error', 'exception'),
  },
});
