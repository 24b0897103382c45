// External pillar `cmd_json`: the output of a command on the master, read as JSON.
import { definePillar, isDict, newDict, p } from 'halite/sdk';
import { loadJson } from 'halite/sdk/codec';
import { runCommand } from './shared/command.ts';

export default definePillar({
  name: 'cmd_json',
  doc: 'Runs a command on the master without a shell; %s stands for the minion’s id. The output must be JSON.',
  params: { command: p.string({ doc: 'the command' }) },
  async compile({ command }, ctx) {
    const output = await runCommand(command, ctx, false);
    try {
      const value = loadJson(output);
      if (value === null || isDict(value)) return value;
    } catch (error) {
      ctx.log.error(`JSON data from ${command} failed to parse`, { error: String(error) });
      return newDict();
    }
    throw new Error(`the output of '${command}' is not a map`);
  },
});
