// Secret store `yaml`: values of YAML files, which are edited by hand.

import {
  type Dict,
  defineSdb,
  dictGet,
  HaliteError,
  isDict,
  type ModuleContext,
  messageOf,
  newDict,
  pyStr,
  type Value,
} from 'halite/sdk';
import { dumpJson, loadYaml } from 'halite/sdk/codec';
import { type MergeStrategy, mergeDicts, traverse } from 'halite/sdk/data';
import { readFile } from 'halite/sdk/fs';
import { listOf } from './shared/profile.ts';

async function readAll(profile: Dict, ctx: ModuleContext): Promise<Dict> {
  const merge = dictGet(profile, 'merge');
  const options = merge !== undefined && isDict(merge) ? merge : newDict();
  const strategy = (dictGet(options, 'strategy') ?? 'smart') as MergeStrategy;
  const mergeLists = dictGet(options, 'merge_lists') === true;
  let data: Dict = newDict();
  for (const file of listOf(dictGet(profile, 'files'))) {
    const text = await readFile(pyStr(file), 'utf8').catch(() => undefined);
    if (text === undefined) {
      ctx.log.error(`File '${pyStr(file)}' not found `);
      continue;
    }
    try {
      const more = loadYaml(text);
      if (isDict(more)) data = mergeDicts(data, more, { strategy, mergeLists });
      else ctx.log.error(`Error deserializing sdb file '${pyStr(file)}': it is not a map`);
    } catch (error) {
      throw new HaliteError('call.failed', `${pyStr(file)} cannot be read: ${messageOf(error)}`);
    }
  }
  return data;
}

export default defineSdb({
  name: 'yaml',
  doc: 'Values of merged YAML files; keys are paths with colons. With `gpg: true` PGP messages in them are decrypted.',
  async get(key, profile, ctx): Promise<Value> {
    const data = await readAll(profile, ctx);
    if (dictGet(profile, 'gpg') !== true) return traverse(data, key) ?? null;
    return traverse(await ctx.render(dumpJson(data), { pipe: 'json|gpg' }), key) ?? null;
  },
  set: () => {
    throw new HaliteError('call.failed', 'Values of YAML files cannot be set: edit the files.');
  },
});
