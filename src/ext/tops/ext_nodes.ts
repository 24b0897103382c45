// Master tops `ext_nodes`: a program that receives a minion's id and prints its environment and classes as YAML.
import { type Dict, defineTops, dictGet, dictKeys, HaliteError, isDict, newDict, pyStr, type Value } from 'halite/sdk';
import { loadYaml } from 'halite/sdk/codec';
import { shellSplit } from 'halite/sdk/text';

function classesOf(value: Value | undefined): string[] | undefined {
  if (Array.isArray(value)) return value.map((item) => pyStr(item));
  return isDict(value ?? null) ? dictKeys(value as Dict).map((key) => pyStr(key)) : undefined;
}

export default defineTops({
  name: 'ext_nodes',
  doc: 'Runs a program with the minion’s id; it prints YAML with `classes` and, if not base, `environment`.',
  async assign(settings, ctx) {
    const [program, ...args] = shellSplit(pyStr(settings));
    if (!program) return newDict();
    // No shell is involved, so nothing in an id can become a command.
    const { retcode, stdout, stderr } = await ctx.exec(program, [...args, ctx.minionId], { timeoutMs: 60_000 });
    if (retcode !== 0)
      throw new HaliteError('call.failed', `${program} ended with ${retcode}: ${stderr.trim().slice(0, 500)}`);
    const data = loadYaml(stdout);
    if (!isDict(data)) {
      ctx.log.info('master_tops ext_nodes call did not return any data', { minion: ctx.minionId });
      return newDict();
    }
    const classes = classesOf(dictGet(data, 'classes'));
    return classes ? newDict([[pyStr(dictGet(data, 'environment') ?? 'base'), classes]]) : newDict();
  },
});
