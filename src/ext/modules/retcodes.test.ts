// A failing tool sets the job's return code, as in Salt: the answer alone does not show the failure.
import { newDict, type Value } from 'halite/sdk';
import { which } from 'halite/sdk/system';
import { testContext } from 'halite/testing';
import { describe, expect, it } from 'vitest';
import aptpkg from './aptpkg/index.ts';
import sysctl from './linux_sysctl.ts';
import useradd from './useradd.ts';

const modules = [aptpkg, sysctl, useradd];
const cases: [string, Value, string, number][] = [
  ['sysctl.get', 'kernel.ostype', 'sysctl', 0],
  ['sysctl.get', 'no.such.thing', 'sysctl', 1],
  ['user.primary_group', 'root', 'id', 0],
  ['user.primary_group', 'no-such-user', 'id', 1],
  ['pkg.owner', '/no/such/file', 'dpkg', 1],
  ['pkg.file_list', 'no-such-package', 'dpkg-query', 1],
];

describe('the return code of the job', () => {
  it.for(cases)('of %s %s', async ([fun, argument, tool, retcode], { skip }) => {
    if (which(tool) === null) skip();
    const ctx = testContext({ modules });
    await ctx.callWith(fun, [argument], newDict());
    expect(ctx.state.retcode).toBe(retcode);
  });
});
