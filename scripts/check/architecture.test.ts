// How the rule about imports parses them; rules.test.ts shows that it finds a forbidden one.
import { describe, expect, it } from 'vitest';
import { importsOf, moduleOf } from './architecture.ts';

describe('architecture', () => {
  it('reads static, type and dynamic imports', () => {
    const text =
      "import a from './a.ts';\nimport type { B } from './b.ts';\nexport { c } from './c.ts';\nawait import('./d.ts');\n";
    expect(importsOf(text).map((item) => item.specifier)).toEqual(['./a.ts', './b.ts', './c.ts', './d.ts']);
  });

  it('finds the longest module name', () => {
    const rules = { modules: { base: [], 'base/codec': [] }, extensions: { node: [] }, libraries: {} };
    expect(moduleOf('base/codec/value.ts', rules)).toBe('base/codec');
    expect(moduleOf('base/log/value.ts', rules)).toBe('base');
    expect(moduleOf('master/main.ts', rules)).toBeUndefined();
  });
});
