// External pillar `cmd_yaml`: the output of a command on the master, read as YAML.
import { definePillar, isDict, newDict, p } from 'halite/sdk';
import { loadYaml } from 'halite/sdk/codec';
import { runCommand } from './shared/command.ts';

export default definePillar({
  name: 'cmd_yaml',
  doc: 'Runs a command on the master in a shell; %s stands for the minion’s id. The output must be YAML.',
  params: { command: p.string({ doc: 'the command' }) },
  async compile({ command }, ctx) {
    const output = await runCommand(command, ctx, true);
    try {
      const value = loadYaml(output);
      if (value === null || isDict(value)) return value;
    } catch (error) {
      ctx.log.error(`YAML data from '${command}' failed to parse`, { error: String(error) });
      return newDict();
    }
    throw new Error(`the output of '${command}' is not a map`);
  },
});
