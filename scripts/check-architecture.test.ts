// The architecture of the source tree is a test like any other.
import { describe, expect, it } from 'vitest';
import { findBreaches, importsOf, moduleOf, readRules, sourceFiles } from './check-architecture.ts';

describe('architecture', () => {
  it('finds the source files', () => {
    expect(sourceFiles().length).toBeGreaterThan(50);
  });

  it('reads static, type and dynamic imports', () => {
    const text =
      "import a from './a.ts';\nimport type { B } from './b.ts';\nexport { c } from './c.ts';\nawait import('./d.ts');\n";
    expect(importsOf(text).map((item) => item.specifier)).toEqual(['./a.ts', './b.ts', './c.ts', './d.ts']);
  });

  it('knows the longest module name', () => {
    const rules = readRules();
    const file = sourceFiles().find((path) => path.endsWith('base/codec/value.ts'));
    expect(file && moduleOf(file, rules)).toBe('base/codec');
  });

  it('has no forbidden import, no cycle and no oversized file', () => {
    expect(findBreaches()).toEqual([]);
  });
});
