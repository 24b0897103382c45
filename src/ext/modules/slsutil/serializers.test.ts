// Formats of slsutil.serialize and slsutil.deserialize, against what Salt gives.
import { newDict, type PlainDict, PyFloat, type Value } from 'halite/sdk';
import { describe, expect, it } from 'vitest';
import { serializerFor } from '../../shared/serializers/serializers.ts';

const none: PlainDict = newDict();
const write = (format: string, value: Value): Value => serializerFor(format, 'serialize')(value, none);
const read = (format: string, text: string): Value => serializerFor(format, 'deserialize')(text, none);

const plist = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
	<key>a</key>
	<array>
		<integer>1</integer>
		<real>2.0</real>
		<true/>
		<string>x &amp; y</string>
	</array>
	<key>e</key>
	<dict/>
</dict>
</plist>
`;

describe('serializers', () => {
  it('plist, both ways', () => {
    const value = newDict([
      ['e', newDict()],
      ['a', [1, new PyFloat(2), true, 'x & y']],
    ]);
    expect(Buffer.from(write('plist', value) as Uint8Array).toString()).toBe(plist);
    expect(read('plist', plist)).toEqual({ a: [1, 2, true, 'x & y'], e: {} });
    expect(() => read('plist', '<plist><dict><key>a</key></dict></plist>')).toThrow('missing key or value');
    expect(() => read('plist', 'no xml <')).toThrow();
  });
  it('yamlex joins, yaml takes the last of equal keys', () => {
    expect(write('yamlex', newDict([['a', 1]]))).toBe('{a: 1}');
    expect(read('yamlex', 'a: !aggregate [1]\na: !aggregate [2]\n')).toEqual({ a: [1, 2] });
    expect(read('yaml', 'a: 1\na: 2\n')).toEqual({ a: 2 });
  });
  it('reports errors in JSON with the messages of Python', () => {
    expect(() => read('json', '{"a"')).toThrow("Expecting ':' delimiter: line 1 column 5 (char 4)");
    expect(() => read('none', '')).toThrow("Serializer 'none' not found.");
  });
});
