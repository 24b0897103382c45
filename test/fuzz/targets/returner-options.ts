// Options of returners from every place they may stand, with values of any type.
import type { PlainDict } from '../../../src/base/codec/value.ts';
import { jobOptions, resolveOptions } from '../../../src/engine/exec/returners/options.ts';
import carbon from '../../../src/ext/returners/carbon.ts';
import mysql from '../../../src/ext/returners/mysql.ts';
import rawfile from '../../../src/ext/returners/rawfile_json.ts';
import slack from '../../../src/ext/returners/slack.ts';
import smtp from '../../../src/ext/returners/smtp.ts';
import syslog from '../../../src/ext/returners/syslog.ts';
import type { Returner } from '../../../src/extend/sdk/index.ts';
import { type FuzzTarget, hold, read } from '../engine/target.ts';
import { anyDict, anyValue, Choices } from '../engine/values.ts';

const all: readonly Returner[] = [carbon, mysql, rawfile, slack, smtp, syslog];
const names = all.flatMap(({ name, options }) =>
  Object.keys(options).flatMap((key) => [key, `${name}.${key}`, `returner.${name}.${key}`, `alt.${name}.${key}`]),
);
const keys = [...new Set([...all.map(({ name }) => name), ...names, 'profile', 'master', 'alt', 'None'])];

const target: FuzzTarget = {
  maxLength: 300,
  run: (bytes) => {
    const choices = new Choices(bytes);
    const returner = choices.pick(all);
    const dict = (): PlainDict => anyDict(choices, keys) as PlainDict;
    const given = jobOptions(anyValue(choices, keys), anyValue(choices, keys));
    const resolved = read(() => resolveOptions(returner, { opts: dict(), grains: dict(), pillar: dict(), ...given }));
    if (!resolved) return;
    const known = Object.keys(returner.options);
    for (const name of Object.keys(resolved.values))
      hold(known.includes(name), `${name} is an option of ${returner.name}`);
    hold(Object.getPrototypeOf(resolved.values) === null, 'no name is inherited');
  },
};
export default target;
