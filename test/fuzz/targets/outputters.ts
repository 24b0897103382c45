// Every outputter with values of any shape: text, or an error of Halite's.
import { dumpJson, isPlainJson, JsonText } from '../../../src/base/codec/json/index.ts';
import type { Value } from '../../../src/base/codec/value.ts';
import highstate from '../../../src/ext/outputters/highstate.ts';
import json from '../../../src/ext/outputters/json.ts';
import key from '../../../src/ext/outputters/key.ts';
import nested from '../../../src/ext/outputters/nested.ts';
import newline from '../../../src/ext/outputters/newline_values_only.ts';
import noReturn from '../../../src/ext/outputters/no_return.ts';
import pprint from '../../../src/ext/outputters/pprint.ts';
import profile from '../../../src/ext/outputters/profile.ts';
import progress from '../../../src/ext/outputters/progress.ts';
import raw from '../../../src/ext/outputters/raw.ts';
import table from '../../../src/ext/outputters/table.ts';
import txt from '../../../src/ext/outputters/txt.ts';
import yaml from '../../../src/ext/outputters/yaml.ts';
import { type FuzzTarget, hold, read } from '../engine/target.ts';
import { anyDict, anyValue, Choices } from '../engine/values.ts';

const all = [highstate, json, key, nested, newline, noReturn, pprint, profile, progress, raw, table, txt, yaml];
const keys =
  'm1|local|data|return|retcode|out|outputter|ret|file_|-|pkg_|-a_|-b_|-installed|file_|-x_|-/etc/x_|-managed|result|comment|changes|name|__id__|__run_num__|__sls__|duration|start_time|warnings|__state_ran__|diff|old|new|percent|minions|minions_pre|minions_denied|minions_rejected|local|labels|rows|title'.split(
    '|',
  );
const tags = ['pkg_|-a_|-b_|-installed', 'file_|-x_|-/etc/x_|-managed', 'cmd_|-c_|-ls_|-run'];

const target: FuzzTarget = {
  maxLength: 300,
  run: (bytes) => {
    const choices = new Choices(bytes);
    const outputter = choices.pick(all);
    const options = {
      color: choices.below(2) === 0,
      ...(choices.below(2) === 0 ? {} : { indent: choices.byte() - 128 }),
      opts: anyOptions(choices),
      retcode: choices.below(3),
    };
    const value = choices.below(2) === 0 ? anyDict(choices, [...tags, ...keys]) : anyValue(choices, [...tags, ...keys]);
    const text = read(() => outputter.render(value as Value, options));
    hold(text === undefined || typeof text === 'string', `${outputter.name} gives text`);
    if (!outputter.renderText || !isPlainJson(value) || text === undefined) return;
    const fast = outputter.renderText(
      new JsonText([Buffer.from(dumpJson(value, { separators: [',', ':'], ensureAscii: false }))], { plain: true }),
      options,
    );
    if (fast !== undefined)
      hold(Buffer.from(fast).equals(Buffer.from(text)), `${outputter.name} gives the same for JSON text`);
  },
};
export default target;

const optionKeys =
  'state_output|state_verbose|state_output_diff|state_output_exclude|state_output_terse|state_output_profile|state_output_pct|state_compress_ids|state_tabular|strip_colors|color|output_indent|full|terse|mixed|changes|filter|mixed_id|full_id'.split(
    '|',
  );
const anyOptions = (choices: Choices): Record<string, Value> => {
  const dict = anyDict(choices, optionKeys, 2);
  return dict instanceof Map
    ? Object.fromEntries([...dict].map(([name, value]) => [String(typeof name === 'object' ? '' : name), value]))
    : dict;
};
